"""A ranking on a terminal, in Markdown, as JSON and as CSV: the same measures everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..analysis.measures import COUNT, KINDS, PERCENT, POINTS, SCORE, SIGNED, Measure
from ..analysis.ranking import LEVEL, Ranked, Ranking
from ..common.strict_json import jsonable
from ..common.tables import lines_text
from ..runs.signature_line import signature_line
from .blocks import Block, heading, paragraph, signatures, warnings
from .sentences import as_dicts
from .table import INTERVAL, NOTHING, Column, Table, interval, percent, ratio, signed

LEGEND = (
    "acc in percent; intervals clustered by user. rank: the places that a run may have; in 95 % of rankings the places of all runs are right. tied: the "
    "other places that a run cannot be told apart from (paired; sign flips and bootstrap-t over users, the largest absolute t over all pairs, 5 % level). Differences to "
    "a baseline or a control are in points, on the cases that both answered."
)
MATRIX = "Row minus column, in points; a star marks pairs that are told apart"


def title(ranking: Ranking) -> str:
    """What the runs of a ranking share, in a line."""
    options = ranking.runs[0].benchmark.options
    remarks = [*options.remarks(ranking.asked)] or ["default options"]
    return (
        f"{ranking.runs[0].title}, {', '.join(remarks)}, prompt {ranking.asked['fingerprint']}, task version "
        f"{ranking.asked['task_version']}: {ranking.cases:,} cases of {ranking.users:,} users ({', '.join(ranking.cells)})"
    )


def blocks(ranking: Ranking) -> list[Block]:
    """One ranking."""
    runs = {f"{place}": signature_line(run) for place, run in enumerate(ranking.runs, 1)}
    pairs: list[Block] = [paragraph(MATRIX), matrix(ranking)] if len(ranking.rows) > 1 else []
    return [
        heading(title(ranking)),
        warnings(ranking.caveats),
        *tables(ranking),
        *pairs,
        signatures(runs, printed=False),
    ]


def all_blocks(rankings: Sequence[Ranking]) -> list[Block]:
    """Several rankings, and why they are several."""
    return [
        *(block for ranking in rankings for block in blocks(ranking)),
        paragraph(LEGEND, dim=True),
        *map(paragraph, reasons(rankings)),
    ]


def tables(ranking: Ranking) -> list[Table]:
    """The scores, and what puts them into proportion."""
    return [table(ranking, columns) for columns in columns_of(ranking)]


def table(ranking: Ranking, columns: Sequence[Column]) -> Table:
    """A table with a row for each run."""
    places = tuple(f"{place}" for place, _ in enumerate(ranking.rows, 1))
    return Table("", places, tuple(columns), corner="", undefined=True, whole=True)


def columns_of(ranking: Ranking) -> tuple[list[Column], list[Column]]:
    """(the scores with the ranks, the other measures)."""
    rows = ranking.rows
    shown = [measure for measure in ranking.measures if ranking.has(measure)]
    scores, others = (
        [column for measure in shown if measure.main is first for column in _columns(ranking, measure)]
        for first in (True, False)
    )
    names = Column("model", tuple(map(_name, rows)))
    ranks = Column("rank", tuple(map(_ranks, rows)))
    tied = Column("tied", tuple(_places(row.tied) for row in rows))
    return [names, *scores, ranks, tied], others


def matrix(ranking: Ranking) -> Table:
    """All pairs."""
    gap = {(pair.first, pair.second): pair for pair in ranking.pairs}
    places = range(1, len(ranking.rows) + 1)

    def cell(a: int, b: int) -> str:
        if a == b:
            return ""
        pair = gap[min(a, b), max(a, b)]
        value = pair.difference.value if a < b else -pair.difference.value
        return percent(value, sign=True) + ("*" if pair.p < LEVEL else "")

    return table(ranking, [Column(f"{b}", tuple(cell(a, b) for a in places)) for b in places])


def _columns(ranking: Ranking, measure: Measure) -> list[Column]:
    values = [row.values[measure.key] for row in ranking.rows]
    texts = (NOTHING if value is None else _in_unit(measure, value.value) for value in values)
    columns = [Column(measure.heading, tuple(texts))]
    if measure.interval:
        columns.append(Column(INTERVAL, tuple(interval(value, sign=measure.unit == POINTS) for value in values)))
    return columns


def _in_unit(measure: Measure, value: float) -> str:
    """A value as tables show it."""
    if measure.unit in (PERCENT, POINTS):
        return percent(value, sign=measure.unit == POINTS)
    if measure.unit == COUNT:
        return f"{value:,.0f}"
    return signed(value) if measure.unit == SIGNED else ratio(value)


def _ranks(row: Ranked) -> str:
    return f"{row.ranks[0]}–{row.ranks[1]}" if row.ranks[0] < row.ranks[1] else f"{row.rank}"


def _places(places: Sequence[int]) -> str:
    """Ascending places with their runs as ranges: `2–4, 6`."""
    ranges: list[list[int]] = []
    for place in places:
        if ranges and place == ranges[-1][-1] + 1:
            ranges[-1].append(place)
        else:
            ranges.append([place])
    return ", ".join(f"{group[0]}–{group[-1]}" if len(group) > 1 else f"{group[0]}" for group in ranges) or NOTHING


def _name(row: Ranked) -> str:
    run = row.run
    return run.model if run.method is next(iter(run.benchmark.methods.values())) else f"{run.model} ({run.method.name})"


def reasons(rankings: Sequence[Ranking]) -> list[str]:
    """Why the runs do not share one ranking."""
    first, *others = rankings
    lines = []
    for number, other in enumerate(others, start=2):
        apart = [name for name, value in first.asked.items() if other.asked.get(name) != value]
        if "benchmark" in apart:  # which other options there are, follows from it
            apart = ["benchmark"]
        values = "; ".join(f"{name} {other.asked.get(name)} instead of {first.asked[name]}" for name in apart)
        lines.append(f"Ranking {number} is separate from ranking 1: {values}.")
    return lines


def document(rankings: Sequence[Ranking]) -> dict[str, Any]:
    """Ready for JSON; nan becomes None."""
    return jsonable({"rankings": list(map(_document, rankings))})


def _document(ranking: Ranking) -> dict[str, Any]:
    return {
        "asked": ranking.asked,
        "cases": ranking.cases,
        "users": ranking.users,
        "cells": ranking.cells,
        "caveats": as_dicts(ranking.caveats),
        "measures": {
            measure.key: {"heading": measure.heading, "unit": measure.unit, "kind": measure.kind}
            for measure in ranking.measures
        },
        "runs": [
            {
                "model": row.run.model,
                "label": row.run.label,
                "signature": signature_line(row.run),
                "rank": row.rank,
                "ranks": row.ranks,
                "tied": row.tied,
                "measures": row.values,
            }
            for row in ranking.rows
        ],
        "pairs": ranking.pairs,
    }


def as_csv(rankings: Sequence[Ranking]) -> str:
    """One row per run; numbers in full, shares from 0 to 1, empty where undefined; the keys of the caveats about the run."""
    of_key = {measure.key: measure for ranking in rankings for measure in ranking.measures}
    listed = sorted(of_key.values(), key=lambda measure: KINDS.index(measure.kind))
    main, others = (
        [part for measure in listed if measure.main is first for part in _parts(measure)] for first in (True, False)
    )
    lines: list[list[Any]] = [
        [
            "ranking", "place", "rank", "rank_low", "rank_high", "model", "method", *(name for name, _, _ in main), "cases", "users",
            *(name for name, _, _ in others), "caveats", "signature",
        ]
    ]  # fmt: skip
    for number, ranking in enumerate(rankings, start=1):
        for place, row in enumerate(ranking.rows, start=1):
            caveats = [caveat.key for caveat in ranking.caveats if not caveat.about or f"{place}" in caveat.about]
            lines.append([
                number, place, row.rank, *row.ranks, row.run.model, row.run.method.name, *_numbers(main, row), ranking.cases, ranking.users,
                *_numbers(others, row), " ".join(caveats), signature_line(row.run),
            ])  # fmt: skip
    return lines_text(lines)


Part = tuple[str, str, str]
"""(name of a column of the CSV file, key of its measure, field of the estimate)."""


def _parts(measure: Measure) -> list[Part]:
    prefix = "" if measure.key == SCORE else f"{measure.key}_"
    ends = ("low", "high") if measure.interval else ()
    return [(measure.key, measure.key, "value"), *((f"{prefix}{end}", measure.key, end) for end in ends)]


def _numbers(parts: Sequence[Part], row: Ranked) -> list[str]:
    numbers = [getattr(row.values.get(key), field, math.nan) for _, key, field in parts]
    return ["" if math.isnan(number) else f"{number:.6f}" for number in numbers]
