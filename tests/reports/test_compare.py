"""Two runs in a ranking of their own: what differs between them is said, and what cannot be compared is refused."""

from __future__ import annotations

import json

import pytest
from support.commands import personafeedback

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")
pytest.importorskip("scipy")

from support.logs import lm_eval_log
from support.shown import words

from personafeedback_tasks.analysis.ranking import compare
from personafeedback_tasks.logs.read import read_run

TASK = "personafeedback_general_hard"


@pytest.fixture
def logs(part_log, real_part):
    """The same cell under two judges, each in one harness; and part of it."""
    return {
        "mixed": part_log("lm-eval", "mixed", TASK),
        "readable": part_log("lm-eval", "readable", TASK),
        "gold": part_log("inspect", "gold", TASK, limit=30),
        "easy": part_log("lm-eval", "gold", "personafeedback_general_easy", limit=5),
        "bare": part_log("lm-eval", "gold", TASK, limit=5, samples=False),
    }


def test_a_run_against_itself_differs_by_nothing(logs):
    (pair,) = compare(read_run(logs["readable"]), read_run(logs["readable"])).entry.pairs
    assert (pair.difference.value, pair.p) == (0, 1)
    assert -0.2 < pair.difference.low < 0 < pair.difference.high < 0.2  # other cases may differ


def test_cases_in_one_run_only_are_counted_and_the_ranking_is_partial(logs):
    found = compare(read_run(logs["gold"]), read_run(logs["readable"])).entry
    said = " ".join(words(found))
    assert "10 cases are only in the run of" in said
    assert " and others." in said
    assert "PARTIAL: general_hard 30 of 40." in said
    assert found.cases == found.pairs[0].difference.n == 30


def test_a_cell_that_only_one_run_was_asked_is_no_missing_part(logs, part_log):
    whole = read_run(part_log("lm-eval", "mixed", "personafeedback_general"))
    for found in (compare(whole, read_run(logs["readable"])), compare(read_run(logs["readable"]), whole)):
        assert not [sentence for sentence in words(found.entry) if "PARTIAL" in sentence]
        assert not any(run.partial for run in found.entry.runs)


def test_the_command_writes_the_ranking_of_both(logs, tmp_path):
    done = personafeedback("compare", logs["gold"], logs["readable"], "--json", tmp_path / "c.json")
    assert done.exit_code == 0, done.output
    # both harnesses decode alike, under other names; only the chat template differs
    assert "conditions differ: chat template=applied; and chat template=not applied." in done.stdout
    (ranking,) = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["rankings"]
    (pair,) = ranking["pairs"]
    (row,) = [line.split() for line in done.stdout.splitlines() if line.startswith("general hard")]
    gap = pair["groups"]["general_hard"]
    assert gap["difference"] == pair["difference"]
    assert row[2:5] == ["30", f"{gap['difference']['users']}", f"{100 * gap['difference']['value']:+.1f}"]
    assert gap["p"] < 0.0001
    assert row[-3:] == ["<", "0.0001", f"{100 * gap['detectable']:.1f}"]


def test_what_else_differs_is_said(logs, real_part, tmp_path):
    other = lm_eval_log(tmp_path, "gold", f"{TASK}_mc", real_part, metadata={"setting": "no_persona"}, limit=30)
    words = " ".join(personafeedback("compare", logs["readable"], other).stdout.split())
    assert "The runs also differ in setting: persona and no_persona" in words
    assert "The runs also differ in method: generate and mc" in words


@pytest.mark.parametrize(("other", "sentence"), [("easy", "have no case in common"), ("bare", "found no samples")])
def test_runs_that_cannot_be_compared_are_refused(other, sentence, logs):
    done = personafeedback("compare", logs["mixed"], logs[other])
    assert done.exit_code == 1
    assert sentence in done.output
