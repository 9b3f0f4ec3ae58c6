"""`personafeedback verdict --ask-people`: which duels people vote on, and what their votes say."""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("ppi_py")

from support.commands import personafeedback
from support.duel_folders import write_duels
from support.judges import JUDGES, OTHER
from support.logs import inspect_log
from support.outputs import faults
from support.releases import write_release

from personafeedback_tasks.analysis.human_file import human_votes
from personafeedback_tasks.building.folder import Folder
from personafeedback_tasks.building.rows import Draw, PackItem, Vote
from personafeedback_tasks.choice.orders import CHOSEN_LETTER
from personafeedback_tasks.common.errors import DataError
from personafeedback_tasks.engine.duels import Duels

USERS, CASES, ASKED = 40, 5, 60
WON = 0.6
"""Share of the duels in which the reply is better."""


def drawn(*what: object) -> float:
    return random.Random(":".join(map(str, what))).random()


def number_of(case_id: str) -> int:
    return int(case_id.rpartition(":")[2])


def reply_is_better(number: int) -> bool:
    return drawn("better", number) < WON


def judge(better, of: str):
    """In a quarter of the cases it says the first text; in the others it picks the better text, but for 2 %."""

    def reply(case_id: str, order: str) -> str:
        number = number_of(case_id)
        if drawn(of, "unsure", number) < 0.25:
            return "A"
        right = better(number) == (drawn(of, "right", number) < 0.98)
        return CHOSEN_LETTER[order] if right else OTHER[CHOSEN_LETTER[order]]

    return reply


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A release, duels of which a reply is better in 60 %, and the logs of a judge on both."""
    root = tmp_path_factory.mktemp("asking")
    rows = [
        {
            "user_id": f"u{number % USERS}", "question": f"What suits me, number {number}?", "chosen": f"Read book {number}, as you like.",
            "reject": f"Watch film {number}, as others do.",
        }
        for number in range(1, USERS * CASES + 1)
    ]  # fmt: skip
    personas = {f"u{number}": {"Name": f"N{number}"} for number in range(USERS)}
    write_release(root / "release", {"general/hard": rows}, personas)
    options = {"category": "general", "difficulty": "hard", "counts": "any"}
    write_duels(
        root / "duels", lambda case: f"My reply to {number_of(case.id)}.", against="rejected", data=root / "release", **options
    )  # fmt: skip
    task = "personafeedback_general_hard"
    for of, better in (("release", lambda number: True), ("duels", reply_is_better)):
        with patch.dict(JUDGES, {"sure_or_not": judge(better, of)}):
            log = inspect_log(root / f"log_{of}", "sure_or_not", task, root / of, counts="any")
        (root / f"{of}.txt").write_text(str(log))
    return root


def words(root: Path, *more: object) -> list[object]:
    log, exam = ((root / f"{of}.txt").read_text() for of in ("duels", "release"))
    return ["verdict", log, "--exam", exam, "--data", root / "duels", "--data", root / "release", *more]


def verdict(root: Path, *more: object) -> str:
    return done(*words(root, *more))


def failed(root: Path, *more: object) -> str:
    result = personafeedback(*words(root, *more))
    assert result.exit_code == 1
    return " ".join(result.output.split())


def prefers_reply(person: int, number: int) -> bool:
    """A person takes the better text, but in a tenth of the duels."""
    return reply_is_better(number) == (drawn("person", person, number) < 0.9)


def filled(table: Path, person: int) -> Path:
    """A pack with the votes of a person; in the items for attention the text that answers the question."""
    rows = list(csv.DictReader(table.read_text("utf-8-sig").splitlines()))
    for row in rows:
        number = int(row["question"].split()[-1].strip("?"))
        second = row["B"]
        if f" {number}" not in row["A"] or f" {number}" not in second:
            row["vote"] = "AB"[f" {number}" in second]
        else:
            row["vote"] = "AB"[second.startswith("My reply") == prefers_reply(person, number)]
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return table


def with_people(root: Path, tmp_path: Path, human: Path) -> dict:
    verdict(root, "--human", human, "--json", tmp_path / "v.json")
    document = json.loads((tmp_path / "v.json").read_text("utf-8"))
    assert faults(document, "verdict") == []
    return document["verdicts"][0]


def done(*arguments: object) -> str:
    result = personafeedback(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def folder(asked, tmp_path_factory):
    """What --ask-people writes, with the votes of two people."""
    root = tmp_path_factory.mktemp("people") / "asked"
    verdict(asked, "--ask-people", ASKED, "--out", root)
    done("build", "packs", root, "--format", "csv")
    packs = [filled(root / "packs" / f"annotator-{person}.csv", person) for person in (1, 2)]
    said = done("build", "votes", root, *packs)
    assert f"Next: personafeedback verdict DUEL_RUN --exam RUN --human {root}" in said
    assert "!" not in said  # nobody failed an item for attention
    return root


@pytest.mark.slow
def test_the_duels_that_are_asked_about_give_a_narrower_interval_than_a_random_draw(asked, folder, tmp_path):
    rows = Folder(folder).by_id(Draw)
    assert len(rows) == ASKED
    unsure = [drawn("duels", "unsure", number_of(name)) < 0.25 for name in rows]
    chances = {row.probability for row, is_unsure in zip(rows.values(), unsure, strict=True) if is_unsure}
    others = {row.probability for row, is_unsure in zip(rows.values(), unsure, strict=True) if not is_unsure}
    assert min(chances) > max(others)
    assert sum(unsure) > ASKED / 3  # of a quarter of the duels
    found = with_people(asked, tmp_path, folder)
    assert (found["people"], found["people_drawn"]) == (ASKED, True)
    assert not found["judge_beside_people"]["differs"]  # the judge is less good where people were asked
    rate = found["prediction_powered"]["rate"]
    everybody = [prefers_reply(person, number) for number in range(1, USERS * CASES + 1) for person in (1, 2)]
    assert rate["low"] < sum(everybody) / len(everybody) < rate["high"]
    for seed in range(3):
        numbers = random.Random(seed).sample(range(1, USERS * CASES + 1), ASKED)
        votes = [(number, prefers_reply(person, number)) for number in numbers for person in (1, 2)]
        lines = [f"general_hard:{number},{'reply' if reply else 'other'}\n" for number, reply in votes]
        (tmp_path / "random.csv").write_text("".join(["case,winner\n", *lines]))
        random_draw = with_people(asked, tmp_path, tmp_path / "random.csv")
        assert not random_draw["people_drawn"]
        other = random_draw["prediction_powered"]["rate"]
        assert rate["high"] - rate["low"] < 0.9 * (other["high"] - other["low"])


@pytest.mark.slow
def test_who_votes_in_the_place_of_somebody_who_never_did_has_the_same_duels(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    votes = Folder(copy).path(Vote)
    votes.write_text("".join(line for line in votes.read_text().splitlines(True) if '"annotator-1"' in line))
    settings = copy / "build.yaml"
    settings.write_text(settings.read_text().replace("annotators: 2", "annotators: 3"))
    done("build", "packs", copy, "--format", "csv")
    assert not (copy / "packs" / "annotator-3.csv").exists()  # two people have each duel
    done("build", "votes", copy, "--drop", "annotator-2")
    done("build", "packs", copy, "--format", "csv")
    items = Folder(copy).read(PackItem)
    has = {
        name: sorted(item.pair_id for item in items if item.annotator == name)
        for name in ("annotator-2", "annotator-3")
    }
    assert has["annotator-3"] == has["annotator-2"]


@pytest.mark.slow
def test_the_folder_goes_on_to_a_verdict_and_makes_no_labels(folder):
    line = f"personafeedback verdict DUEL_RUN --exam RUN --human {folder}"
    said = done("build", "status", folder)
    assert said.splitlines()[-1] == f"Next: {line}"
    assert "tiers" not in said
    for step in ("tiers", "release"):
        refused = personafeedback("build", step, folder)
        assert refused.exit_code == 1
        assert f"people vote there on a model's replies, which makes no labels. Next: {line}" in refused.stderr


@pytest.mark.slow
def test_the_probabilities_may_come_in_a_file(asked, folder, tmp_path):
    """As in the folder, of votes that somebody collected elsewhere."""
    lines = [
        f"{name},{'reply' if prefers_reply(person, number_of(name)) else 'other'},{row.probability}\n"
        for name, row in Folder(folder).by_id(Draw).items()
        for person in (1, 2)
    ]
    (tmp_path / "votes.csv").write_text("".join(["case,winner,probability\n", *lines]))
    same = with_people(asked, tmp_path, tmp_path / "votes.csv")
    assert same == with_people(asked, tmp_path, folder)
    (tmp_path / "votes.csv").write_text("".join(["case,winner\n", *(line.rpartition(",")[0] + "\n" for line in lines)]))
    without = with_people(asked, tmp_path, tmp_path / "votes.csv")
    assert without["prediction_powered"]["rate"] != same["prediction_powered"]["rate"]


@pytest.mark.slow
def test_votes_on_other_duels_are_refused(asked, folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    path = Folder(copy).path(Draw)
    first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps({**json.loads(first), "duel": "0" * 12}), *rest]))
    said = failed(asked, "--human", copy)
    assert "with the same texts. Pass the run of the duels that people were asked about." in said
    path.unlink()
    assert f"{copy}: found a folder without drawn.jsonl, expected one that `verdict --ask-people` wrote" in failed(
        asked, "--human", copy
    )
    assert "found a folder that is not empty" in failed(asked, "--ask-people", ASKED, "--out", copy)
    for count in (9, USERS * CASES + 1):
        assert f"got {count} of 200 duels of 40 users" in failed(
            asked, "--ask-people", count, "--out", tmp_path / "new"
        )


def test_options_that_do_not_go_together(tmp_path):
    for options in (("--ask-people", 20), ("--out", "new"), ("--ask-people", 20, "--out", "new", "--risk", 0.1)):
        result = personafeedback("verdict", tmp_path, "--exam", tmp_path, *options)
        assert result.exit_code == 1
        assert "--ask-people and --out go together, without --risk, --then, --human and --json." in result.output


DUELS = Duels(writer="w", against="chosen", models=("w",), sources={f"d{number}": f"c{number}" for number in range(3)})


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            ("c0,reply,0.5", "c1,other,"),
            "found 1 duels with a probability and 1 without, expected it for all or for none",
        ),
        (("c0,reply,0.5", "c0,other,0.25"), "found probability = 0.25 for 'c0', which has 0.5 in an earlier row"),
        (("c0,reply,0.5", "c0,other,"), "which has 0.5 in an earlier row"),
        (("c0,reply,0",), "found probability = '0', expected a number above 0, at most 1, such as 0.25"),
        (("c0,reply,nan",), "found probability = 'nan', expected"),
        (("c0,reply,1.1",), "found probability = '1.1', expected"),
        (("c0,reply,half",), "found probability = 'half', expected"),
    ],
)
def test_probabilities_that_are_none(tmp_path, rows, said):
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(["case,winner,probability", *rows, ""]))
    with pytest.raises(DataError, match=re.escape(said)):
        human_votes(path, DUELS, ())
