"""Two runs on the same cases: paired differences, what only one got right, and what is refused."""

from __future__ import annotations

import json
import math
import random

import pytest
from support.commands import personafeedback

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")
pytest.importorskip("scipy")

from support.caveats import words
from support.judges import JUDGES
from support.logs import inspect_log, lm_eval_log
from support.shown import as_json, markdown

from personafeedback_tasks.analysis.comparison import compare
from personafeedback_tasks.choice.orders import CHOSEN_LETTER, ORDERS
from personafeedback_tasks.common.paired_tests import SMALLEST, paired_p
from personafeedback_tasks.common.significance import holm, minimum_detectable_difference
from personafeedback_tasks.common.statistics import estimate
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.replies.answers import read_reply
from personafeedback_tasks.reports.compare_text import LEGEND
from personafeedback_tasks.runs.read import read_run
from personafeedback_tasks.runs.run import RunError

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


def _picked(case, judge):
    return [read_reply(JUDGES[judge](case.id, order)) == CHOSEN_LETTER[order] for order in ORDERS]


def test_every_number_is_that_of_the_paired_cases(logs, real_part):
    found = compare(read_run(logs["mixed"]), read_run(logs["first"]))
    (group,) = found.groups
    cases = sorted(load_cases(real_part, "general", "hard"), key=lambda case: case.id)
    users = [case.user_id for case in cases]
    mixed = [sum(_picked(case, "mixed")) / 2 for case in cases]
    first = [0.5] * len(cases)
    assert group.name == "general_hard"
    assert group.acc_a == pytest.approx(sum(mixed) / len(mixed), abs=1e-12)
    assert group.acc_b == 0.5
    deltas = [a - b for a, b in zip(mixed, first, strict=True)]
    assert group.difference == estimate(deltas, users)
    assert group.p == paired_p(deltas, users)
    assert group.detectable == minimum_detectable_difference(deltas, users)
    assert set(group.only_a) == {case.id for case in cases if all(_picked(case, "mixed"))}
    assert group.only_b == ()  # who always picks A is never right in both orders
    assert (found.only_in_a, found.only_in_b) == ((), ())


def test_exchanging_the_runs_turns_every_sign_and_nothing_else(logs):
    a, b = read_run(logs["mixed"]), read_run(logs["first"])
    (one,), (two,) = compare(a, b).groups, compare(b, a).groups
    assert (one.acc_a, one.acc_b, one.only_a, one.only_b) == (two.acc_b, two.acc_a, two.only_b, two.only_a)
    assert one.difference.value == -two.difference.value
    assert (one.difference.low, one.difference.high) == (-two.difference.high, -two.difference.low)
    assert (one.p, one.detectable) == (two.p, pytest.approx(two.detectable))


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
    text = personafeedback("compare", logs["mixed"], logs["first"], "--markdown").stdout
    assert "| general hard | 80 |" in text


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


def test_answers_to_other_texts_are_refused(logs, tmp_path):
    (samples,) = logs["first"].parent.glob("samples_*")
    (tmp_path / logs["first"].name).write_bytes(logs["first"].read_bytes())
    rows = samples.read_text(encoding="utf-8").splitlines()
    index = random.Random(3).randrange(len(rows))
    row = json.loads(rows[index])
    row["doc"]["digest"] = "0" * 12
    rows[index] = json.dumps(row)
    (tmp_path / samples.name).write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(RunError, match=f"1 of 80 cases have other texts.*the first is {row['doc']['id']}"):
        compare(read_run(logs["mixed"]), read_run(tmp_path / logs["first"].name))


@pytest.mark.slow
def test_all_cases_are_the_test_and_the_rows_share_a_level(tmp_path):
    """Cells of the sample: their p values are those of the plain tests under Holm's correction; that of all cases is plain."""
    a, b = (read_run(inspect_log(tmp_path, judge, "personafeedback", "sample")) for judge in ("mixed", "readable"))
    found = compare(a, b)

    def plain(group):
        ids = [
            case_id for case_id, case in a.cases.items() if group.name in (case.cell, case.cell.split("_")[0], "total")
        ]
        gaps = [a.cases[case_id].value("acc") - b.cases[case_id].value("acc") for case_id in ids]
        return paired_p(gaps, [a.cases[case_id].user_id for case_id in ids])

    *parts, whole = found.groups
    assert len(parts) == 8
    assert [group.p for group in parts] == holm([plain(group) for group in parts])
    assert whole.p == plain(whole)
    assert "The last row is the test; the other rows have Holm's correction" in " ".join(LEGEND.split())
