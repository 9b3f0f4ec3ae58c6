"""Two runs side by side, on a terminal, in Markdown and as JSON."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ..analysis.comparison import GroupComparison, RunComparison
from ..common.records import jsonable
from ..common.statistics import Estimate
from ..core.report import Line
from ..logs.signature_line import signature_line
from .blocks import Block, heading, paragraph, signatures, warnings
from .sentences import as_dicts
from .table import INTERVAL, NOTHING, Column, Table, number, percent, spaced, with_interval

LEGEND = (
    "{score} in percent, paired by case; intervals clustered by user. p: the larger p value of sign flips and bootstrap-t over users; < where no "
    "sample reached the difference; of cases about two users that of t, clustered by both. The last row is the test; the other rows have Holm's correction among them. only A, only B: how many "
    "cases one run got right in all of its calls and the other did not. detectable: the minimum detectable difference at 80 % power."
)


def tables(comparison: RunComparison) -> list[Table]:
    """One row per group. The last columns are a table of their own where they do not fit beside the others."""
    groups = comparison.groups
    columns = (
        Column("cases", tuple(f"{group.difference.n:,}" for group in groups)),
        Column("users", tuple(f"{group.difference.users:,}" for group in groups)),
        Column("A", tuple(percent(group.acc_a) for group in groups)),
        Column("B", tuple(percent(group.acc_b) for group in groups)),
        *with_interval("A - B", [group.difference for group in groups], sign=True),
        Column("p", tuple(map(_p, groups)), joined=True),
        Column("only A", tuple(f"{len(group.only_a):,}" for group in groups)),
        Column("only B", tuple(f"{len(group.only_b):,}" for group in groups), joined=True),
        Column("detectable", tuple(percent(group.detectable) for group in groups), joined=True),
    )
    return [Table("Difference", tuple(spaced(group.name) for group in groups), columns), _other_table(comparison)]


def _scores(comparison: RunComparison) -> str:
    a, b = comparison.run_a.primary, comparison.run_b.primary
    return a if a == b else f"A {a}, B {b}"


def _p(group: GroupComparison) -> str:
    if math.isnan(group.p):
        return NOTHING
    return f"{'< ' if group.is_bound else ''}{group.p:.4f}"


def _other_table(comparison: RunComparison) -> Table:
    # differences of percentages are in points
    overall = comparison.groups[-1].others
    rows = [
        (line, *overall[line.measure]) for line in comparison.run_a.benchmark.report.compared if line.measure in overall
    ]

    def gap(line: Line, value: float) -> str:
        return percent(value, sign=True) if line.share else number(replace(line, sign=True), value)

    def between(line: Line, gaps: Estimate) -> str:
        return NOTHING if math.isnan(gaps.low) else f"{gap(line, gaps.low)} to {gap(line, gaps.high)}"

    columns = (
        Column("A", tuple(number(line, a) for line, a, _, _ in rows)),
        Column("B", tuple(number(line, b) for line, _, b, _ in rows)),
        Column("A - B", tuple(gap(line, gaps.value) for line, _, _, gaps in rows), strong=True),
        Column(INTERVAL, tuple(between(line, gaps) for line, _, _, gaps in rows), joined=True),
    )
    labels = tuple(f"{line.title} (%)" if line.share else line.title for line, *_ in rows)
    return Table("Over all cases", labels, columns, corner="")


def blocks(comparison: RunComparison) -> list[Block]:
    """The comparison."""
    named = comparison.named
    return [
        heading("; ".join(f"{name}: {run.label}" for name, run in named.items())),
        warnings(comparison.caveats),
        *tables(comparison),
        paragraph(LEGEND.format(score=_scores(comparison)), dim=True),
        signatures({name: signature_line(run) for name, run in named.items()}),
    ]


def document(comparison: RunComparison) -> dict[str, Any]:
    """Ready for JSON; nan becomes None."""
    named = comparison.named
    return jsonable(
        {
            "primary": {name: run.primary for name, run in named.items()},
            "a": signature_line(comparison.run_a),
            "b": signature_line(comparison.run_b),
            "partial": {name: run.partial for name, run in named.items()},
            "left_out": {name: run.left_out for name, run in named.items()},
            "caveats": as_dicts(comparison.caveats),
            "only_in_a": comparison.only_in_a,
            "only_in_b": comparison.only_in_b,
            "groups": {group.name: group for group in comparison.groups},
        }
    )
