"""Two runs on the same cases: paired differences, what only one got right, and what is refused."""

from __future__ import annotations

import json
import math

import pytest
from support.commands import personafeedback

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")
pytest.importorskip("scipy")

from support.caveats import words
from support.logs import lm_eval_log
from support.shown import as_json, markdown

from personafeedback_tasks.analysis.comparison import compare
from personafeedback_tasks.common.paired_tests import SMALLEST
from personafeedback_tasks.logs.read import read_run

TASK = "personafeedback_general_hard"


@pytest.fixture
def logs(part_log, real_part):
    """The same cell under two judges, each in one harness; and part of it."""
    return {
        "mixed": part_log("lm-eval", "mixed", TASK),
        "first": part_log("lm-eval", "always_first", TASK),
        "gold": part_log("inspect", "gold", TASK, limit=30),
        "easy": part_log("lm-eval", "gold", "personafeedback_general_easy", limit=5),
        "bare": part_log("lm-eval", "gold", TASK, limit=5, samples=False),
    }


def test_a_p_value_that_no_sample_reached_is_a_bound(logs, part_log, tmp_path):
    """The smallest one that so many samples can give is 2 / (samples + 1), see `paired_tests`."""
    worst = part_log("lm-eval", "anti_gold", TASK)
    done = personafeedback("compare", part_log("lm-eval", "readable", TASK), worst, "--json", tmp_path / "found.json")
    assert done.exit_code == 0, done.output
    assert SMALLEST == 2 / 10_000
    assert "< 0.0002" in done.stdout
    group = json.loads((tmp_path / "found.json").read_text("utf-8"))["groups"]["general_hard"]
    assert (group["p"], group["is_bound"]) == (SMALLEST, True)
    shown = personafeedback("compare", worst, worst).stdout
    assert "1.0000" in shown
    assert "< " not in shown.replace("; < where", "")


def test_a_run_against_itself_differs_by_nothing(logs):
    (group,) = compare(read_run(logs["mixed"]), read_run(logs["mixed"])).groups
    assert (group.difference.value, group.p) == (0, 1)
    assert -0.1 < group.difference.low < 0 < group.difference.high < 0.1  # other cases may differ
    assert math.isnan(group.detectable)  # from what does not vary, nothing follows


def test_a_partial_run_is_marked_in_every_output(logs):
    found = compare(read_run(logs["gold"]), read_run(logs["mixed"]))
    assert "run A: PARTIAL: general_hard 30 of 80." in " ".join(words(found))
    assert as_json(found)["partial"] == {"A": {"general_hard": [30, 80]}, "B": {}}
    assert "PARTIAL" in markdown(found)
    assert not any("PARTIAL" in note for note in words(compare(read_run(logs["first"]), read_run(logs["mixed"]))))


def test_cases_in_one_run_only_are_counted_and_named(logs):
    done = personafeedback("compare", logs["gold"], logs["mixed"])
    assert done.exit_code == 0, done.output
    words = " ".join(done.stdout.split())
    found = compare(read_run(logs["gold"]), read_run(logs["mixed"]))
    assert len(found.only_in_b) == 50
    assert "50 cases are only in run B and left out: " + ", ".join(found.only_in_b[:5]) in words
    (group,) = found.groups
    assert (group.difference.n, group.acc_a) == (30, 1)


def test_the_command_prints_the_table_and_writes_the_ids(logs, tmp_path):
    done = personafeedback("compare", logs["mixed"], logs["first"], "--json", tmp_path / "c.json")
    row, row2 = [line.split() for line in done.stdout.splitlines() if line.strip().startswith("general hard")]
    (group,) = compare(read_run(logs["mixed"]), read_run(logs["first"])).groups
    assert row[:6] == [
        "general", "hard", "80", f"{group.difference.users}", f"{100 * group.acc_a:.1f}", "50.0"
    ]  # fmt: skip
    assert row[6] == f"{100 * group.difference.value:+.1f}"
    detectable = f"{100 * group.detectable:.1f}"
    assert row2[2:] == [f"{len(group.only_a):,}", f"{len(group.only_b):,}", detectable]
    stored = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert stored["groups"]["general_hard"]["only_a"] == list(group.only_a)
    assert done.stdout.count("prompt v1-") == 2


def test_what_else_differs_is_said(logs, real_part, tmp_path):
    other = lm_eval_log(tmp_path, "gold", f"{TASK}_mc", real_part, metadata={"setting": "no_persona"}, limit=30)
    words = " ".join(personafeedback("compare", logs["mixed"], other).stdout.split())
    assert "The runs also differ in setting: persona and no_persona" in words
    assert "The runs also differ in method: generate and mc" in words


@pytest.mark.parametrize(("other", "sentence"), [("easy", "have no case in common"), ("bare", "found no samples")])
def test_runs_that_cannot_be_compared_are_refused(other, sentence, logs):
    done = personafeedback("compare", logs["mixed"], logs[other])
    assert done.exit_code == 1
    assert sentence in done.output
