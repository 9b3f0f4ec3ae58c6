"""The report of a terminal: one screen with the verdict, its numbers and what could be wrong with them; `--full` has the rest."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest
from msgspec.structs import replace

pytest.importorskip("lm_eval")
pytest.importorskip("inspect_ai")
pytest.importorskip("scipy")

from rich.cells import cell_len
from support.commands import ran

from personafeedback_tasks.analysis.report import make_report
from personafeedback_tasks.analysis.sentences import beyond, opening, texts_of
from personafeedback_tasks.logs.caveat import FORBIDS, VOID, WEAKENS, Caveat
from personafeedback_tasks.logs.read import read_run
from personafeedback_tasks.personafeedback.cases import load_cases
from personafeedback_tasks.reports import report_text
from personafeedback_tasks.stats.estimates import Estimate

SCREEN = 24
"""Lines of a terminal."""
TASK = "personafeedback_general_hard"
GENERAL = "personafeedback_general"


def on_a_terminal(*arguments) -> list[str]:
    """What `report` prints on a terminal of 80 columns, without its colours."""
    done = ran("report", *arguments, COLUMNS="80", FORCE_COLOR="1")
    return re.sub(r"\x1b\[[\d;?]*\w", "", done.stdout).splitlines()


def in_a_pipe(*arguments) -> list[str]:
    done = ran("report", *arguments, COLUMNS="80")
    return done.stdout.splitlines()


@pytest.fixture
def one_cell(part_log, real_part):
    """A run of one cell and its two controls, with the data."""
    log = {
        setting: part_log("lm-eval", judge, TASK, metadata={"setting": setting})
        for setting, judge in (("no_persona", "in_passing"), ("other_persona", "anti_gold"))
    }
    run = part_log("lm-eval", "readable", TASK)
    return run, (log["no_persona"], log["other_persona"]), ("--data", real_part)


# --- one screen -------------------------------------------------------------------------------------------------------


def test_a_screen_has_the_verdict_the_numbers_behind_it_and_a_line_on_each_check(one_cell, tmp_path):
    run, controls, data = one_cell
    shown = on_a_terminal(run, *controls, *data)
    assert len(shown) <= SCREEN
    assert max(map(cell_len, shown)) <= 80
    piped = in_a_pipe(run, *controls, *data, "--out", tmp_path)
    lines = [line for line in piped if not line.startswith("wrote ")]
    assert " ".join(" ".join(shown).split()) == " ".join(" ".join(lines).split()), "a pipe has another text"
    (stored,) = json.loads((tmp_path / "report.json").read_text("utf-8"))["reports"]
    group = stored["groups"]["general_hard"]
    right = group["measures"]["right_minus_wrong"]

    def ends(found, sign=""):
        between = " to " if sign else "–"
        return f"({100 * found['low']:{sign}.1f}{between}{100 * found['high']:{sign}.1f})"

    acc, gain = group["measures"]["acc"], group["measures"]["persona_gain"]
    words = {line.partition("  ")[0]: line.partition("  ")[2].strip() for line in lines}
    assert re.search(r", general hard: 40 cases, \d+ users$", lines[0])
    assert lines[1] == stored["verdict"]
    assert words["accuracy"] == f"{100 * acc['value']:.1f} % {ends(acc)}; chance 50.0"
    assert words["right minus wrong"] == f"{100 * right['value']:+.1f} points {ends(right, '+')}"
    assert words["persona gain"] == f"{100 * gain['value']:+.1f} points {ends(gain, '+')}"
    shortcut, users, unreadable = lines[8:11]
    assert words["consistency"].startswith(
        f"{100 * stored['groups']['general_hard']['measures']['consistency']['value']:.1f} % ("
    )
    excess = group["measures"]["excess_over_counting"]
    assert words["excess over counting"] == f"{100 * excess['value']:+.1f} points {ends(excess, '+')}"
    same = group["measures"]["same_as_longest"]["value"]
    assert f"same picks as longest {100 * same:.0f} %" in shortcut
    assert users.startswith(f"users: standard deviation {100 * stored['users']['spread']:.1f} (")
    assert unreadable == "unreadable replies: 0 of 80"
    assert f"| data {stored['signature'].partition('sha256 ')[2][:12]}" in lines[-2]
    assert re.fullmatch(r"--full shows (\d+ more caveats?, )?every table and the whole signature", lines[-1])
    for text in ("Result", "signature:", "Baselines"):
        assert not any(line.startswith(text) for line in lines)


def test_full_has_everything_that_the_file_has(one_cell, tmp_path):
    run, controls, data = one_cell
    lines = in_a_pipe(run, *controls, *data, "--full", "--out", tmp_path)
    (stored,) = json.loads((tmp_path / "report.json").read_text("utf-8"))["reports"]
    written = (tmp_path / "report.md").read_text("utf-8")
    for part in ("Result", "Baselines", "Both orders of a case", f"signature: {stored['signature']}"):
        assert part in lines
    for sentence in (stored["verdict"], *(caveat["sentence"] for caveat in stored["caveats"])):
        assert any(sentence in line for line in lines)
        assert sentence.replace("'", "") in re.sub(r"[\\'\u2060]", "", written)
    assert sum(line.startswith("general hard") for line in lines) == 0, "one cell needs no label of its own"


def test_a_missing_control_is_asked_for_by_an_option(one_cell):
    run, controls, data = one_cell
    lines = in_a_pipe(run, *data)
    assert "right minus wrong  not asked" in lines
    assert "persona gain       not asked" in lines
    assert lines[1].endswith("; whether it uses this user's persona was not asked.")
    option = """--metadata '{"setting": "other_persona,no_persona"}'"""
    assert f"To add other_persona and no_persona, repeat the run with {option}." in lines
    assert len(on_a_terminal(run, *data)) <= SCREEN
    some = in_a_pipe(run, controls[0], *data)
    assert any(line.startswith("persona gain       +") or line.startswith("persona gain       -") for line in some)
    assert any(line.startswith("To add other_persona") and "no_persona" not in line for line in some)
    assert not any(line.startswith("To ask") for line in in_a_pipe(run, *controls, *data))


def test_several_cells_have_a_table_where_it_fits(part_log, real_part):
    shown = on_a_terminal(part_log("inspect", "readable", GENERAL), "--data", real_part)
    assert len(shown) <= SCREEN
    assert max(map(cell_len, shown)) <= 80
    assert [line.split()[:3] for line in shown if line.startswith("general ")] == [
        ["general", "easy", "45"], ["general", "medium", "35"], ["general", "hard", "40"],
    ]  # fmt: skip


def test_what_makes_numbers_void_is_whole_in_place_of_a_table(part_log, real_part):
    shown = on_a_terminal(part_log("inspect", "mixed", GENERAL), "--data", real_part)
    assert len(shown) <= SCREEN
    assert shown[1].startswith("! MISSING REPLIES: ")
    void = shown.index("No verdict: the numbers are void.")
    assert " ".join(shown[:void]).endswith("--max-tokens 16384.")


# --- its parts --------------------------------------------------------------------------------------------------------


@pytest.fixture
def report(part_log, real_part):
    cases = load_cases(real_part, "general", counts="any")
    return make_report(read_run(part_log("inspect", "readable", GENERAL)), cases)


def texts(made) -> list[str]:
    return [str(line) for block in report_text.short(made) for line in block.terminal()]


def test_severe_caveats_stay_in_short_and_the_others_are_counted(report):
    severe = [
        Caveat("missing_replies", VOID, {"percent": 9.0}),
        Caveat("partial", FORBIDS, {"cells": "general_hard 3 of 80"}),
    ]
    weak = [Caveat("equal_users", WEAKENS), Caveat("counts_unchecked", WEAKENS)]
    shown = texts(replace(report, caveats=texts_of((*severe, *weak))))
    assert shown[1].startswith(
        "! MISSING REPLIES: 9.0 % of the replies have no text at all and count as wrong. A server"
    )
    assert shown[2] == "! PARTIAL: general_hard 3 of 80."
    assert shown[-1] == "--full shows 2 more caveats, every table and the whole signature"
    assert texts(replace(report, caveats=texts_of(weak[:1])))[-1].startswith("--full shows 1 more caveat, ")
    assert texts(replace(report, caveats=()))[-1] == "--full shows every table and the whole signature"


def test_the_ceiling_of_the_data_is_there_where_it_is_below_100(part_log, real_part):
    run, cases = read_run(part_log("inspect", "readable", GENERAL)), load_cases(real_part, "general", counts="any")
    examined = run.benchmark.report.examine(cases, run.cases.keys())

    def line(**ceiling):
        made = make_report(run, cases, texts=dataclasses.replace(examined, ceiling=ceiling))
        return [text for text in texts(made) if text.startswith("label ceiling")]

    assert line(general=0.957, specific=0.9, total=0.95) == ["label ceiling of these cells: general 95.7 %"]
    assert line(general=1.0) == line() == []


def difference(value: float, low: float, high: float, users: int = 30) -> Estimate:
    return Estimate(value, 0.01, low, high, 100, users)


@pytest.mark.parametrize(
    ("margin", "said"),
    [
        (difference(0.02, 0.001, 0.039), "2.0 points above always picking it"),
        (difference(-0.02, -0.039, -0.001), "2.0 points below always picking it"),
        (difference(0.02, -0.001, 0.041), "not significantly different from always picking it (+2.0 points)"),
    ],
)
def test_how_good_it_is_follows_from_the_interval(margin, said):
    assert beyond(margin, "always picking it") == said
    sentence = opening(said, "no sign that it uses this user's persona")
    assert sentence[0] == said[0].upper()
    assert sentence.endswith("; no sign that it uses this user's persona.")
