"""Scores are those of the replies, whatever a log says; cases are the data's, each once: else one error, no card."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")
pytest.importorskip("scipy")

from support import logs as written
from support.commands import personafeedback, ran
from support.judges import METRICS, OTHER
from support.logs import set_version, signed

from personafeedback_tasks import TASK_VERSION
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise import scoring
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback.cases import load_cases

Json = dict[str, Any]
HARD = "personafeedback_general_hard"
pytestmark = pytest.mark.usefixtures("real_part")


@pytest.fixture(scope="module")
def logs(part_log) -> dict[str, Path]:
    """Two runs of one judge, whose replies can all be read."""
    return {
        "lm-eval": part_log("lm-eval", "readable", HARD),
        "inspect": part_log("inspect", "readable", HARD),
    }


def bent(log: Path, folder: Path, rows: Callable[[list[Json]], object], header: Callable[[Json], object]) -> Path:
    """A copy of a log whose rows (samples), and whose results (header), were changed in place."""
    return written.bent(log, folder, lambda _, samples: rows(samples), lambda results, _: header(results))


def untouched(_: object) -> None:
    """Changes nothing."""


# --- one row, as either harness has it --------------------------------------------------------------------------------


def is_inspect(row: Json) -> bool:
    return "epoch" in row


def about(row: Json) -> Json:
    return row["metadata" if is_inspect(row) else "doc"]


def cells(header: Json) -> Json:
    """Of the signature."""
    found: Json = signed(header, HARD)["cells"]
    return found


# --- attacks: what is done to rows, what to the results, and what the error says --------------------------------------


def some(change: Callable[[Json], object]) -> Callable[[list[Json]], None]:
    def change_some(rows: list[Json]) -> None:
        for row in rows[20:40]:
            change(row)

    return change_some


def flip_and_score(row: Json) -> None:
    """Other answers, and the values that follow from them, in every place of a log that has them."""
    if is_inspect(row):
        score = row["scores"]["personafeedback"]
        (result,) = score["metadata"]["results"]
        result["answers"] = [OTHER[letter] for letter in result["answers"]]
        result["values"] = scoring.score_answers(TWO.letters, result["answers"])
        score["value"] = {name: result["values"][name] for name in METRICS}
    else:
        row["filtered_resps"] = [OTHER[letter] for letter in row["filtered_resps"]]
        values = scoring.score_answers(TWO.letters, row["filtered_resps"])
        row |= {name: values[name] for name in METRICS}
        row["acc_stderr"][1] = [values["acc"]]


def again(rows: list[Json]) -> None:
    """Cases a second time, whole in themselves."""
    more = [json.loads(json.dumps(row)) for row in rows[20:40]]
    rows += more


def keep_30(rows: list[Json]) -> None:
    del rows[30:]


def claim_30(header: Json) -> None:
    """As if the cell had no more, in every place that says so."""
    cells(header)["general_hard"]["cases"] = 30
    if "n-samples" in header:
        header["n-samples"][HARD]["effective"] = 30
    else:
        header["results"] |= {"total_samples": 30, "completed_samples": 30}


def better(header: Json) -> None:
    """A table that says more than the rows do."""
    if "eval" in header:
        header["results"]["scores"][0]["metrics"]["acc"]["value"] = 0.99
    else:
        header["results"][HARD]["acc,none"] = 0.99


def other_cell(row: Json) -> None:
    about(row)["cell"] = "general_easy"


ATTACKS: dict[str, tuple[Callable[[list[Json]], object], Callable[[Json], object], str]] = {
    "cases again": (again, untouched, r"found (general_hard:\d+ a second time|60 rows of)"),
    "no rows": (list.clear, untouched, "(found 0 rows of .* expected 40|found no scores, expected those of the 40 )"),
    "30 cases": (keep_30, claim_30, "found 30 as the number of cases of general_hard, expected 40 as in"),
    "another cell": (some(other_cell), untouched, "found a case of general_easy, expected one of general_hard"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Duplicate name")  # of a zip file, which "cases again" is about
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
def test_a_log_that_was_changed_is_one_error_and_no_card(harness, attack, logs, real_part, tmp_path):
    rows, header, sentence = ATTACKS[attack]
    log = bent(logs[harness], tmp_path / "bent", rows, header)
    for command in (("report",), ("card", "--model-card", tmp_path / "card.md")):
        done = personafeedback(*command, log, "--data", real_part)
        assert done.exit_code == 1, done.output
        assert re.fullmatch(r"Error: [^\n]*\n", done.output), done.output
        assert re.search(sentence, done.output), done.output
    assert not (tmp_path / "card.md").exists()


def test_data_that_have_the_cases_of_the_run_and_other_files_are_reported_with_a_note(logs, real_part, tmp_path):
    half = tmp_path / "half"
    shutil.copytree(real_part, half)
    (half / "data" / "general" / "easy.jsonl").unlink()
    here, there = load_cases(half, "general", "hard").digest, load_cases(real_part, "general").digest
    done = ran("report", "--full", logs["inspect"], "--data", half)
    said = " ".join(done.output.split())
    assert f"read for this report (sha256 {here}) are not those of the run (sha256 {there})" in said
    assert (
        "not those of the run" not in personafeedback("report", "--full", logs["inspect"], "--data", real_part).output
    )


@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
@pytest.mark.parametrize(
    ("key", "sentence"),
    [("user_id", "belong to another user"), ("digest", "have other texts"), ("targets", "have other right answers")],
)
def test_users_texts_and_right_answers_are_those_of_the_data(harness, key, sentence, logs, real_part, tmp_path):
    """A value that is another one wherever it stood contradicts nothing in the log itself."""

    def rename(rows: list[Json]) -> None:
        place = "target" if key == "targets" and is_inspect(rows[7]) else key
        of = [row if place == "target" else about(row) for row in rows]
        old = of[7][place]
        for row in of:
            if row[place] == old:
                row[place] = ["another"] * 2 if key == "targets" else "another"

    log = bent(logs[harness], tmp_path / "bent", rename, untouched)
    done = personafeedback("report", log, "--data", real_part)
    assert done.exit_code == 1, done.output
    assert re.search(
        rf"\d+ of 40 cases {sentence} than in .*; the first is general_hard:\d+, found \(?'?another", done.output
    )


def test_runs_that_could_not_be_held_against_data_are_compared_with_a_note(logs, tmp_path):
    def elsewhere(header: Json) -> None:
        header["configs"][HARD]["metadata"]["personafeedback_tasks"]["source"] = "/gone"

    log = bent(logs["lm-eval"], tmp_path / "bent", untouched, elsewhere)
    done = ran("compare", log, logs["inspect"])
    printed = " ".join(done.stdout.split())
    assert "! There is no folder 'gone'" in printed


@pytest.mark.parametrize("version", ["1.0", TASK_VERSION])
@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
def test_scores_are_those_of_the_replies_whatever_a_log_says(harness, version, logs, real_part, tmp_path):
    """Answers, values and the table of a log may be of an older version, or anybody's: the replies are read again."""

    def older(header: Json) -> None:
        set_version(header, HARD, version)
        better(header)

    log = bent(logs[harness], tmp_path / "bent", some(flip_and_score), older)
    assert read_run(log).results == read_run(logs[harness]).results
    done = ran("report", "--full", log, "--data", real_part)
    said = f"The run has task version 1.0. All numbers here were recomputed from its replies with the installed version {TASK_VERSION}"
    assert (said in " ".join(done.stdout.split())) == (version == "1.0")
