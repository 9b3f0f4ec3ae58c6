"""Scores are those of the replies, whatever a log says; cases are the data's, each once: else one error, no card."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import personafeedback, ran
from support.judges import METRICS, OTHER
from support.logs import bent, set_version, signed

from personafeedback_tasks import TASK_VERSION
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.pairwise import scoring
from personafeedback_tasks.pairwise.orders import TWO
from personafeedback_tasks.personafeedback.cases import load_cases

Json = dict[str, Any]
Rows = list[Json]
HARD = "personafeedback_general_hard"
pytestmark = pytest.mark.usefixtures("real_part")


@pytest.fixture(scope="module")
def logs(part_log) -> dict[str, Path]:
    """Two runs of one judge, whose replies can all be read."""
    return {harness: part_log(harness, "readable", HARD) for harness in ("lm-eval", "inspect")}


def is_inspect(row: Json) -> bool:
    return "epoch" in row


def about(row: Json) -> Json:
    return row["metadata"] if is_inspect(row) else row["doc"]


# --- attacks: what is done to the header and the rows, and what the error says ----------------------------------------


def again(header: Json, rows: Rows) -> None:
    """Cases a second time, whole in themselves."""
    rows += [json.loads(json.dumps(row)) for row in rows[20:40]]


def no_rows(header: Json, rows: Rows) -> None:
    rows.clear()


def only_30(header: Json, rows: Rows) -> None:
    """As if the cell had no more, in every place that says so."""
    del rows[30:]
    signed(header, HARD)["cells"]["general_hard"]["cases"] = 30
    if "n-samples" in header:
        header["n-samples"][HARD]["effective"] = 30
    else:
        header["results"] |= {"total_samples": 30, "completed_samples": 30}


def other_cell(header: Json, rows: Rows) -> None:
    for row in rows[20:40]:
        about(row)["cell"] = "general_easy"


def flipped_and_better(header: Json, rows: Rows) -> None:
    """Other answers, and the values that follow from them, in every place of a log that has them; and a better table."""
    for row in rows[20:40]:
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
    if "eval" in header:
        header["results"]["scores"][0]["metrics"]["acc"]["value"] = 0.99
    else:
        header["results"][HARD]["acc,none"] = 0.99


ATTACKS: dict[str, tuple[Callable[[Json, Rows], None], str]] = {
    "cases again": (again, r"found (general_hard:\d+ a second time|60 rows of)"),
    "no rows": (no_rows, "(found 0 rows of .* expected 40|found no scores, expected those of the 40 )"),
    "30 cases": (only_30, "found 30 as the number of cases of general_hard, expected 40 as in"),
    "another cell": (other_cell, "found a case of general_easy, expected one of general_hard"),
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
def test_a_log_that_was_changed_is_one_error_and_no_card(harness, attack, logs, real_part, tmp_path):
    change, sentence = ATTACKS[attack]
    log = bent(logs[harness], tmp_path / "bent", change)
    for command in (("report",), ("card", "--model-card", tmp_path / "card.md")):
        done = personafeedback(*command, log, "--data", real_part)
        assert done.exit_code == 1, done.output
        assert re.fullmatch(r"Error: [^\n]*\n", done.output), done.output
        assert re.search(sentence, done.output), done.output
    assert not (tmp_path / "card.md").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")  # of a zip file
def test_a_sample_that_inspect_logged_again_under_its_name_counts_once_as_it_was_last(logs, tmp_path):
    log = shutil.copy(logs["inspect"], tmp_path)
    with zipfile.ZipFile(log, "a") as archive:
        name = next(name for name in archive.namelist() if name.startswith("samples/"))
        sample = json.loads(archive.read(name))
        archive.writestr(name, json.dumps({**sample, "invalidation": {"author": "Ann"}}))
    run = read_run(log)
    assert (len(run.cases), run.left_out) == (39, {"invalidated": 1})
    assert sample["id"] not in run.cases


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
    [
        ("user_id", r"\d+ of 40 cases belong to another user than in .*; the first is general_hard:\d+, found another"),
        ("digest", r"\d+ of 40 cases have other texts than in .*; the first is general_hard:\d+, found another"),
        ("targets", r"(line|sample) \S+: found the right answers B, A, expected A, B\. Use the log as the harness"),
        ("labels", "found the right answers another, another, expected A, B"),
    ],
)
def test_users_texts_and_right_answers_are_those_of_the_data(harness, key, sentence, logs, real_part, tmp_path):
    """A value that is another one wherever it stood contradicts nothing in the log itself."""

    def change(header: Json, rows: Rows) -> None:
        old = about(rows[7]).get(key)
        for row in rows:
            if key in ("targets", "labels"):
                targets = row["target"] if is_inspect(row) else row["doc"]["targets"]
                targets[:] = targets[::-1] if key == "targets" else ["another"] * 2
            elif about(row)[key] == old:
                about(row)[key] = "another"

    log = bent(logs[harness], tmp_path / "bent", change)
    # the right answers follow from the orders: no data are needed to know them
    data = tmp_path / "none" if key in ("targets", "labels") else real_part
    done = personafeedback("report", log, "--data", data)
    assert done.exit_code == 1, done.output
    assert re.search(sentence, done.output), done.output


def test_runs_that_could_not_be_held_against_data_are_compared_with_a_note(logs, tmp_path):
    log = bent(logs["lm-eval"], tmp_path / "bent", lambda header, rows: signed(header, HARD).update(source="/gone"))
    for command in (("compare", log, logs["inspect"]), ("report", log)):  # a short report, too
        printed = " ".join(ran(*command).stdout.split())
        assert "! There is no folder 'gone'" in printed


@pytest.mark.parametrize("version", ["1.0", TASK_VERSION])
@pytest.mark.parametrize("harness", ["lm-eval", "inspect"])
def test_scores_are_those_of_the_replies_whatever_a_log_says(harness, version, logs, real_part, tmp_path):
    """Answers, values and the table of a log may be of an older version, or anybody's: the replies are read again."""

    def older(header: Json, rows: Rows) -> None:
        set_version(header, HARD, version)

    log = bent(logs[harness], tmp_path / "bent", flipped_and_better, older)
    assert read_run(log).results == read_run(logs[harness]).results
    done = ran("report", "--full", log, "--data", real_part)
    said = f"The run has task version 1.0: all numbers here were recomputed from its replies with the installed version {TASK_VERSION}"
    assert (said in " ".join(done.stdout.split())) == (version == "1.0")
