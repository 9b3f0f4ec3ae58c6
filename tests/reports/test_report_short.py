"""What the short report says of missing controls, severe caveats, labels and margins; tests/printed.txt has whole ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs
from support.cards import MOSTLY_RIGHT, MOSTLY_RUN, with_ceiling
from support.commands import ran
from support.planted_judges import KNOWER, asked
from support.sample_runs import SAMPLE
from support.shown import markdown

from personafeedback_tasks.analysis.documents import ReportDocument, ReportedRun
from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.analysis.sentences import beyond
from personafeedback_tasks.analysis.users import Users
from personafeedback_tasks.core.report import Line
from personafeedback_tasks.logs.caveat import FORBIDS, VOID, WEAKENS, caveat
from personafeedback_tasks.reports import report_text
from personafeedback_tasks.reports.table import measured
from personafeedback_tasks.stats.estimates import Estimate

TASK = "personafeedback_general_hard"


def test_a_missing_control_is_asked_for_by_an_option(part_log, real_part):
    run = part_log("lm-eval", "readable", TASK)
    judges = {"no_persona": "in_passing", "other_persona": "anti_gold"}
    controls = [part_log("lm-eval", judge, TASK, metadata={"setting": setting}) for setting, judge in judges.items()]

    def advice(*logs: object) -> list[str]:
        printed = ran("report", run, *logs, "--data", real_part).stdout.splitlines()
        return [line for line in printed if line.startswith("To add ")]

    option = """--metadata '{"setting": "other_persona,no_persona"}'"""
    assert advice() == [f"To add other_persona and no_persona, repeat the run with {option}."]
    assert advice(controls[0]) == [f"To add other_persona, repeat the run with {option.replace(',no_persona', '')}."]
    assert advice(*controls) == []


def texts(made: ReportedRun) -> list[str]:
    return [str(line) for block in report_text.blocks(ReportDocument(reports=[made])) for line in block.terminal()]


def test_severe_caveats_stay_and_the_others_are_counted():
    severe = [
        caveat("missing_replies", VOID, percent=9.0, again=""),
        caveat("partial", FORBIDS, cells="easy 3 of 80"),
    ]
    weak = [caveat("equal_users", WEAKENS), caveat("counts_unchecked", WEAKENS)]
    for count, said in ((2, "2 more caveats, "), (1, "1 more caveat, "), (0, "")):
        shown = texts(structs.replace(MOSTLY_RIGHT, caveats=[*severe, *weak[:count]]))
        assert shown[1].startswith("! MISSING REPLIES: 9.0 % of the replies have no text at all and count as wrong. A ")
        assert shown[2] == "! PARTIAL: easy 3 of 80."  # its first sentence
        assert shown[-1] == f"--full shows {said}every table and the whole signature"


def test_a_part_says_of_how_many_cases_it_is():
    made = make_report(MOSTLY_RUN.part([*MOSTLY_RUN.cases][:40]), SAMPLE)
    assert texts(made)[0].endswith(", total: 40 of 48 cases, 8 users")


def test_a_control_on_a_part_of_the_cases_is_named_beside_its_difference():
    run, controls = asked(KNOWER)
    some = {setting: control.part([*control.cases][:16]) for setting, control in controls.items()}
    of_part = texts(make_report(run, SAMPLE, controls=some))
    assert [line for line in of_part if "16 of 48 cases" in line] == [
        f"! The {name} covers the 16 of 48 cases that the control also answered."
        for name in ("right minus wrong", "persona gain")
    ]
    assert any("this user's persona was asked on a part of the cases only" in line for line in of_part)
    assert not [line for line in texts(make_report(run, SAMPLE, controls=controls)) if " that the control also" in line]


def test_a_run_of_an_older_version_says_that_its_numbers_were_recomputed():
    run, _ = asked(KNOWER)
    older = replace(run, signature=run.signature.changed(task_version="1.2"))
    (said,) = [line for line in texts(make_report(older, SAMPLE)) if "task version 1.2" in line]
    assert said.startswith("! ")
    assert "recomputed from its replies with the installed version" in said


def test_how_far_users_differ_is_said_in_points_but_not_of_a_void_run():
    made = structs.replace(MOSTLY_RIGHT, users=Users(30, 0.1, 0.05, 0.2))
    said = "users: standard deviation 10.0 (5.0–20.0) points beyond chance"
    assert (said in texts(made), said in texts(structs.replace(made, void=True))) == (True, False)


def test_the_ceiling_of_the_data_is_there_where_it_is_below_100():
    def line(**ceiling: float) -> list[str]:
        made = with_ceiling(MOSTLY_RUN, {}, **ceiling)
        found = [text for text in texts(made) if text.startswith("label ceiling")]
        assert ("Label ceiling: " in markdown(made)) is bool(found)
        return found

    assert line(general=0.957, specific=1.0, nowhere=0.9) == ["label ceiling of these cells: general 95.7 %"]
    assert line(general=1.0) == line() == []


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.001, 0.039, "2.0 points above it"),
        (-0.039, -0.001, "2.0 points below it"),
        (-0.001, 0.041, "not significantly different from it (+2.0 points)"),
        (float("nan"), float("nan"), "+2.0 points from it, with an unknown error"),
    ],
)
def test_how_good_it_is_follows_from_the_interval(low, high, said):
    margin = Estimate(0.02, 0.01, low, high, 100, 30)
    assert beyond(margin if high != -0.001 else replace(margin, value=-0.02), "it") == said


def test_the_interval_of_a_share_ends_at_0_and_100():
    _, ends = measured(Line("f1", interval=True), [Estimate(0.9, 0.1, -0.1, 1.1, 100, 30)])
    assert ends.texts == ("0.0–100.0",)
