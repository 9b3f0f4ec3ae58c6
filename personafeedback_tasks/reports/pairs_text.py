"""The pairs of a ranking: the matrix of many runs, and the difference between two by group and by measure."""

from __future__ import annotations

import math
from dataclasses import replace

from ..analysis.documents import RankingEntry
from ..core.report import SIGNED, Line
from ..stats.estimates import ALPHA, Estimate
from .blocks import Block, paragraph
from .table import INTERVAL, NOTHING, Column, Table, number, percent, spaced, with_interval

MATRIX = "Row minus column, in points; a star marks significant differences"

OF_TWO = {
    "difference": "place 1 minus place 2, in points",
    "p": "the last row has the test over all cases; the other rows are Holm-corrected among themselves",
    "detectable": "the minimum detectable difference at 80 % power",
}
"""Heading of a column -> what it has."""


def matrix(ranking: RankingEntry) -> list[Block]:
    """All pairs."""
    gap = {(pair.first, pair.second): pair for pair in ranking.pairs}
    places = range(1, 1 + sum(not run.void for run in ranking.runs))

    def cell(a: int, b: int) -> str:
        if a == b:
            return ""
        pair = gap[min(a, b), max(a, b)]
        value = pair.difference.value if a < b else -pair.difference.value
        return percent(value, sign=True) + ("*" if pair.p < ALPHA else "")

    columns = tuple(Column(f"{b}", tuple(cell(a, b) for a in places)) for b in places)
    labels = tuple(f"{place}" for place in places)
    return [paragraph(MATRIX), Table("", labels, columns, corner="place", undefined=True, whole=True)]


def of_two(ranking: RankingEntry) -> list[Block]:
    """The difference between two runs, in each group and in each measure that is no mean over cases."""
    (pair,) = ranking.pairs
    gaps = pair.groups.values()
    columns = (
        Column("cases", tuple(f"{gap.difference.n:,}" for gap in gaps)),
        Column("users", tuple(f"{gap.difference.users:,}" for gap in gaps)),
        *with_interval("difference", [gap.difference for gap in gaps], sign=True),
        Column("p", tuple(_p(gap.p) for gap in gaps), joined=True),
        Column("detectable", tuple(percent(gap.detectable) for gap in gaps)),
    )
    lines = list(ranking.compared.values())
    found = [pair.measures[line.key] for line in lines]
    others = (
        Column("difference", tuple(_gap(line, one.value) for line, one in zip(lines, found, strict=True)), strong=True),
        Column(INTERVAL, tuple(_between(line, one) for line, one in zip(lines, found, strict=True)), joined=True),
    )
    labels = tuple(f"{line.label} (%)" if line.is_share else line.label for line in lines)
    of_groups = Table("Difference", tuple(map(spaced, pair.groups)), columns)
    return [
        of_groups,
        Table("Over all cases", labels, others, corner=""),
        paragraph(" ".join(f"{name}: {text}." for name, text in OF_TWO.items() if name in of_groups.header), dim=True),
    ]


def _p(p: float) -> str:
    return NOTHING if math.isnan(p) else f"{p:.4f}" if p >= 0.0001 else "< 0.0001"


def _gap(line: Line, value: float) -> str:
    return percent(value, sign=True) if line.is_share else number(replace(line, unit=SIGNED), value)


def _between(line: Line, found: Estimate) -> str:
    return NOTHING if math.isnan(found.low) else f"{_gap(line, found.low)} to {_gap(line, found.high)}"
