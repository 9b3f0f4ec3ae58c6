"""People judge the rows of the three stages: what they see, and what comes back for every task."""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from pathlib import Path

import pytest

pytest.importorskip("jinja2")

from support.commands import personafeedback, ran, tree
from support.recenter import in_inspect, same

from personafeedback_tasks.annotation.assignment import INSTRUCTED
from personafeedback_tasks.annotation.rows import PackItem
from personafeedback_tasks.building.build import Build
from personafeedback_tasks.core.benchmark import find
from personafeedback_tasks.recenter import data
from personafeedback_tasks.recenter.data import load, with_judgment
from personafeedback_tasks.recenter.rows import STAGES, VERDICTS, Extraction, Relevance, Response
from personafeedback_tasks.recenter.study import without_votes

ANNOTATORS = 3
SAMPLE = Path(data.__file__).with_name("sample")


def pack(folder, *more, data=("sample",)):
    done = ran("annotate", "pack", *data, "--out", folder, "--format", "csv", *more)
    return done.stdout


def votes(folder, *files):
    done = ran("annotate", "votes", folder, *files)
    return done.stdout


def table(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def part(folder, users, stages=STAGES):
    """A folder with rows of the sample: of its first users, those about one conversation, prompt and pair."""
    folder.mkdir()
    of = {
        Extraction: lambda row: row["conversation"],
        Relevance: lambda row: row["prompt"],
        Response: lambda row: row["id"],
    }
    for stage in stages:
        first, kept = {}, []
        for line in (SAMPLE / stage.file).read_text("utf-8").splitlines():
            row = json.loads(line)
            if len(first) < users or row["user_id"] in first:
                about = of[stage](row)
                kept += [line] if first.setdefault(row["user_id"], about) == about else []
        (folder / stage.file).write_text("\n".join(kept), "utf-8")
    return folder


def path_of(folder, stage, annotator):
    return folder / "packs" / stage / f"annotator-{annotator}.{stage}.csv"


def filled(folder, stage, annotator, answer):
    """The table of a pack as its annotator sends it; `answer`: row -> (vote, note) or (vote, note, faults)."""
    path = path_of(folder, stage, annotator)
    rows = table(path)
    for row in rows:
        row["vote"], row["note"], *faults = answer(row)
        row |= dict(zip(["faults"], faults, strict=False))
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def truth(annotator, *texts):
    """What an annotator thinks of some texts: the same wherever they are shown."""
    return random.Random(f"{annotator} {texts}").random()


ROWS = {stage: list(load(stage, "sample")) for stage in STAGES}
ATTRIBUTES = {(row.transcript, row.attribute) for row in ROWS[Extraction]}


def verdict_of(annotator, row):
    if row["attributes"]:
        lacking = truth(annotator, row["conversation"]) < 0.5
        return ("missing", "Has a son; Likes wood") if lacking else ("nothing", "")
    if (row["conversation"], row["attribute"]) not in ATTRIBUTES:
        return "rejected", ""  # of somebody else
    return VERDICTS[int(3 * truth(annotator, row["conversation"], row["attribute"]))], ""


def ticks_of(annotator, row):
    lines = [line.split(": ", 1) for line in row["answers"].splitlines()]
    ticked = [number for number, text in lines if text == INSTRUCTED or truth(annotator, row["prompt"], text) < 0.4]
    return ", ".join(ticked) or "none", ""


def rating_of(annotator, row):
    for place, text in ((1, "B"), (2, "A")):
        if row[text] not in {
            reply for one in ROWS[Response] if one.prompt == row["prompt"] for reply in (one.generic, one.personalized)
        }:
            return {1: "1", 2: "5"}[place], ""  # a reply to another prompt
    personalized = {one.personalized for one in ROWS[Response]}
    rating = 1 + int(5 * truth(annotator, row["prompt"], *sorted((row["A"], row["B"]))))
    is_second = row["B"] in personalized
    marks = f"{'AB'[is_second]} uncomfortable" if truth("", row["prompt"]) < 0.5 or annotator == 1 else ""
    return str(rating if is_second else 6 - rating), "", marks


OF_STAGE = {"extraction": verdict_of, "relevance": ticks_of, "response": rating_of}


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """(the folder, what was printed of the votes) of a study of the whole sample by three attentive people."""
    folder = tmp_path_factory.mktemp("judged") / "study"
    pack(folder, "--annotators", ANNOTATORS)
    files = [
        filled(folder, stage, annotator, lambda row, of=of, who=annotator: of(who, row))
        for stage, of in OF_STAGE.items()
        for annotator in range(1, ANNOTATORS + 1)
    ]
    return folder, votes(folder, *files)


def test_each_row_comes_back_with_what_each_person_said_of_it(judged):
    folder, _ = judged
    people = range(1, ANNOTATORS + 1)
    for stage, rows in ROWS.items():
        came = {row.id: row for row in load(stage, folder)}
        assert came.keys() == {row.id for row in rows}
        for row in rows:
            back = came[row.id]
            assert without_votes(back) == without_votes(row)
            if stage is Extraction:
                said = [VERDICTS[int(3 * truth(who, row.transcript, row.attribute))] for who in people]
            elif stage is Relevance:
                said = [truth(who, row.prompt, row.attribute) < 0.4 for who in people]
            else:
                said = [1 + int(5 * truth(who, row.prompt, *sorted((row.generic, row.personalized)))) for who in people]
            assert Counter(back.votes) == Counter(said), row.id


def test_what_is_wrong_with_a_reply_is_counted_beside_its_votes(judged):
    """One of the three marks every personalized reply as uncomfortable, and all of them some."""
    folder, _ = judged
    for row in load(Response, folder):
        by_all = truth("", row.prompt) < 0.5
        assert row.faults.asked == 3
        assert row.faults.personalized == {"uncomfortable": 3 if by_all else 1, "over-personalized": 0}
        assert row.found == {"generic": (), "personalized": ("uncomfortable",) if by_all else ()}


def test_the_attentive_are_not_accused_and_their_items_are_counted(judged):
    lines = judged[1].splitlines()
    assert not [line for line in lines if line.startswith("!")]
    conversations = {(row.user_id, row.conversation) for row in ROWS[Extraction]}
    profiles = {(row.user_id, row.prompt) for row in ROWS[Relevance]}
    questions = len(ROWS[Extraction]) + len(conversations) + len(profiles) + len(ROWS[Response])
    assert f"votes to an item: {questions} items have 3" in lines
    for annotator in range(1, ANNOTATORS + 1):
        (line,) = [line for line in lines if line.startswith(f"annotator-{annotator}:")]
        assert f"{questions} of {questions} votes" in line
        assert "attention 6 of 6" in line


def test_whoever_ticks_all_alike_fails_the_attention_items_and_can_be_dropped(tmp_path):
    study = tmp_path / "study"
    pack(study, "--annotators", 2)
    right = filled(study, "extraction", 1, lambda row: verdict_of(1, row))
    alike = {
        "extraction": lambda row: "nothing" if row["attributes"] else "accepted",
        "relevance": lambda row: "none",
        "response": lambda row: "3",
    }
    wrong = [filled(study, stage, 2, lambda row, of=of: (of(row), "")) for stage, of in alike.items()]
    said = votes(study, right, *wrong)
    assert "! annotator-2 failed 6 of 6 attention items" in said
    assert f"personafeedback annotate votes {study} --drop annotator-2" in said
    votes(study, "--drop", "annotator-2")
    assert {len(row.votes) for row in load(Extraction, study)} == {1}
    assert not (study / "relevance.jsonl").read_text("utf-8")


def test_packs_say_nothing_of_sides_ids_and_checks_and_each_has_an_order_of_its_own(judged):
    packs = [table(path_of(judged[0], "relevance", annotator)) for annotator in range(1, ANNOTATORS + 1)]
    assert len({tuple(row["answers"] for row in rows) for rows in packs}) == ANNOTATORS
    everything = "".join(path.read_text("utf-8") for path in (judged[0] / "packs").rglob("*.csv"))
    for secret in ("personalized", "generic", "attention", "demo-u", "demo-p"):
        assert secret not in everything


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stage", "judge", "metric", "share"),
    [
        (Extraction, "always_accept", "acc", lambda row: not row.judgment),
        (Relevance, "always_yes", "acc", lambda row: row.judgment),
        (Response, "always_3", "no_better_people", lambda row: row.judgment <= 3),
    ],
)
def test_the_tasks_and_reports_take_what_came_back(judged, tmp_path, stage, judge, metric, share):
    """The judge is right in the share of rows in which most people say what it says."""
    folder, _ = judged
    rows = with_judgment(load(stage, folder))
    task = f"recenter_{stage.stage}"
    found, log = in_inspect(find(task), f"{task}/{judge}", tmp_path, data=str(folder))
    assert same(found[metric], sum(map(share, rows)) / len(rows))
    done = ran("report", log, "--full")
    assert f"{len(ROWS[stage])} rows of 6 users with several votes" in " ".join(done.output.split())
    assert ("personalized is uncomfortable" in done.output) == (stage is Response)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["pack", "votes"])
def test_killed_between_any_two_files_a_study_loses_and_doubles_no_vote(step, tmp_path, monkeypatch):
    made = tmp_path / "made"
    pack(made, "--annotators", 2, data=[part(tmp_path / "part", 3)])
    more = part(tmp_path / "more", 6)
    files = [
        filled(made, stage, who, lambda row, of=of, who=who: of(who, row))
        for stage, of in OF_STAGE.items()
        for who in (1, 2)
    ]
    if step == "pack":  # more of each, after votes
        votes(made, *files)
    words = {
        "pack": (more, "--out", ".", "--annotators", 3, "--format", "csv"),
        "votes": (".", *files),
    }[step]
    real, left = os.replace, -1

    def until(source, target):
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        real(source, target)

    def done_in(folder):
        shutil.copytree(made, folder)
        monkeypatch.chdir(folder)
        return personafeedback("annotate", step, *words)

    assert done_in(tmp_path / "whole").exit_code == 0
    whole = {name: text for name, (_, text) in tree(tmp_path / "whole").items()}
    for killed in range(100):
        with monkeypatch.context() as patched:
            left = killed
            patched.setattr(os, "replace", until)
            stopped = done_in(tmp_path / f"killed{killed}").exit_code != 0
        if not stopped:
            break
        assert personafeedback("annotate", step, *words).exit_code == 0
        assert {name: text for name, (_, text) in tree(Path.cwd()).items()} == whole, f"killed after {killed} files"
    assert 4 <= killed < 99


def test_a_row_with_other_texts_and_other_folders_are_refused_and_nothing_is_written(tmp_path):
    data, study = tmp_path / "data", tmp_path / "study"
    data.mkdir()
    row = {"id": "r1", "user_id": "u1", "prompt": "What now?", "attribute": "Sails", "votes": []}
    (data / "relevance.jsonl").write_text(json.dumps(row), "utf-8")
    pack(study, data=[data])
    before = tree(study)
    (data / "relevance.jsonl").write_text(json.dumps({**row, "attribute": "Rows"}), "utf-8")
    done = personafeedback("annotate", "pack", data, "--out", study)
    assert done.exit_code == 1
    assert "found 'r1' with other texts than the new row of that id, expected the same" in done.output
    assert tree(study) == before
    done = personafeedback("annotate", "pack", "sample", "--out", data)
    assert "expected a new one or one of this command" in done.output
    done = personafeedback("annotate", "votes", data)
    assert "or the --out of `personafeedback annotate pack`" in done.output
    assert [path.name for path in data.iterdir()] == ["relevance.jsonl"]


def test_an_answer_that_is_not_on_the_list_is_named(tmp_path):
    study = tmp_path / "study"
    pack(study, "--annotators", 1, data=[part(tmp_path / "part", 2)])
    for stage, vote, expected in (
        ("extraction", "A", "accepted, uncertain, rejected or `cannot judge`, or nothing"),
        ("relevance", "1 99", "1, "),
        ("response", "6", "1, 2, 3, 4, 5 or `cannot judge`, or nothing"),
    ):
        file = filled(study, stage, 1, lambda row, vote=vote: ("" if row.get("attributes") else vote, ""))
        done = personafeedback("annotate", "votes", study, file)
        assert done.exit_code == 1
        assert f"{file}, line " in done.output
        assert f"found the vote {vote!r}, expected {expected}" in done.output


def test_what_is_missing_must_be_named_and_can_be_added_to(tmp_path):
    """Without its note, the vote would count as if nothing was missing."""
    study = tmp_path / "study"
    pack(study, "--annotators", 1, data=[part(tmp_path / "part", 1, [Extraction])])

    def sent(note):
        return filled(study, "extraction", 1, lambda row: ("missing", note) if row["attributes"] else ("accepted", ""))

    done = personafeedback("annotate", "votes", study, sent(" "))
    assert done.exit_code == 1
    assert "found the vote 'missing' without a note, expected a note on what is missing" in done.output
    assert not (study / "missing.jsonl").exists()
    for note, named in (("Has a son", ["Has a son"]), ("Has a son; Likes wood", ["Has a son", "Likes wood"])):
        votes(study, sent(note))
        (line,) = (study / "missing.jsonl").read_text("utf-8").splitlines()
        assert json.loads(line)["missing"] == [named]


def test_label_studio_has_every_answer_and_gives_ticks_and_notes_back(tmp_path):
    study = tmp_path / "study"
    pack(study, "--annotators", 1, "--format", "label-studio", data=[part(tmp_path / "part", 4)])
    sent = []
    for stage, answer in OF_STAGE.items():
        folder = study / "packs" / stage
        config = ET.fromstring((folder / "label-studio.xml").read_text("utf-8"))
        choices = [choice.get("value") for choice in config.iter("Choice")]
        exported = []
        for task in json.loads((folder / f"annotator-1.{stage}.label-studio.json").read_text("utf-8")):
            vote, note, *_ = answer(1, {**dict.fromkeys(("attributes", "answers"), ""), **task["data"]})
            assert set(vote.split(", ")) <= set(choices)
            result = [{"from_name": "vote", "value": {"choices": vote.split(", ")}}]
            result += [{"from_name": "note", "value": {"text": note.split("; ")}}] if note else []
            exported.append({"data": task["data"], "annotations": [{"result": result, "completed_by": 7}]})
        sent.append(study / f"{stage}.json")
        sent[-1].write_text(json.dumps(exported), "utf-8")
    assert "attention 6 of 6" in votes(study, *sent)
    for row in load(Relevance, study):
        assert row.votes == (truth(1, row.prompt, row.attribute) < 0.4,)
    lines = (study / "missing.jsonl").read_text("utf-8").splitlines()
    assert {tuple(one) for line in lines for one in json.loads(line)["missing"]} == {(), ("Has a son", "Likes wood")}


# --- what models made -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_people_judge_what_several_models_made_and_alike_once(tmp_path):
    extract, respond = find("recenter_extract"), find("recenter_respond")

    def notes(*attributes):
        return lambda case, call: json.dumps(
            [{"attribute": one, "reason": "", "quote": "It is so."} for one in attributes]
        )

    in_inspect(extract, notes("Sails", "Has a dog", "Mail to ann@example.org"), tmp_path / "logs", method="extract")
    in_inspect(extract, notes("sails ", "Plays chess"), tmp_path / "others", method="extract")
    in_inspect(
        respond, lambda case, call: "" if case.endswith("7") else f"{call} {case}", tmp_path / "logs", method="respond"
    )
    in_inspect(find("recenter_extraction"), "recenter_extraction/always_accept", tmp_path / "logs")
    said = pack(tmp_path / "study", data=[tmp_path / "logs", tmp_path / "others"])
    asked = {stage: list(load(stage, tmp_path / "study" / "asked")) for stage in (Extraction, Response)}
    of_conversation = defaultdict(set)
    for row in asked[Extraction]:
        of_conversation[row.conversation].add(row.attribute.strip().casefold())
        assert row.reason == "It is so."
    assert len(of_conversation) == 24
    assert set(map(frozenset, of_conversation.values())) == {frozenset({"sails", "has a dog", "plays chess"})}
    for row in asked[Response]:
        assert (row.personalized.split()[0], row.generic.split()[0]) == ("personalized", "generic")
    assert "annotator-1.response" in said
    assert "left out: 24 with a mail address or phone number" in said
    assert "without both replies" in said
    before = Build(tmp_path / "study").read(PackItem)
    pack(tmp_path / "study", data=[tmp_path / "logs"])  # again: nobody is asked twice
    assert Build(tmp_path / "study").read(PackItem) == before


@pytest.mark.slow
def test_people_are_asked_what_is_missing_where_a_model_noted_nothing(tmp_path):
    """Two conversations in three have no attribute. What people miss there counts as true and not extracted."""
    extract, study = find("recenter_extract"), tmp_path / "study"
    bare = [row for number, row in enumerate(extract.load(extract.options(data="sample"), {})) if number % 3]

    def notes(case, call):
        noted = [] if case in {row.id for row in bare} else [{"attribute": f"Sails {case}", "reason": "", "quote": ""}]
        return json.dumps(noted)

    _, log = in_inspect(extract, notes, tmp_path / "logs", method="extract")
    said = pack(study, "--annotators", 1, "--votes", 1, data=[log])
    assert " 0 of them for attention" not in said  # although all attributes have the same reason: none
    questions = table(study / "packs" / "extraction" / "annotator-1.extraction.csv")
    asked = {row["conversation"] for row in questions if row["attributes"] == "Nothing was noted."}
    assert asked == {row.transcript for row in bare}

    def answer(row):
        return ("missing", "Owns a small vineyard") if row["attributes"] else ("accepted", "")

    votes(study, filled(study, "extraction", 1, answer))
    lacking = (study / "missing.jsonl").read_text("utf-8").splitlines()
    assert (len(lacking), len(bare)) == (24, 16)
    done = ran("chain", log, "--people", study, "--json", "-")
    found = json.loads(done.stdout)["models"][0]["steps"]["found"]
    assert (found["n"], found["value"]) == (24 + 8, pytest.approx(8 / 32))
    before = Build(study).read(PackItem)
    pack(study, data=[log])
    assert Build(study).read(PackItem) == before
