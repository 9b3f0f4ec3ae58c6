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
from .blocks import Block, Legend, Paragraph, Signatures, Title, Warnings
from .sentences import as_dicts
from .table import INTERVAL, NOTHING, Column, Table, interval, percent, ratio, signed

LEGEND = (
    "acc in percent; intervals clustered by user. rank: the places that a run may have, all of them right at once in 95 % of rankings. tied: the "
    "other places that a run cannot be told apart from (paired; sign flips and bootstrap-t over users, the largest |t| over all pairs, 5 % level). Differences to "
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
    pairs: list[Block] = [Paragraph(MATRIX), matrix(ranking)] if len(ranking.rows) > 1 else []
    return [
        Title(title(ranking)),
        Warnings(ranking.caveats),
        *tables(ranking),
        *pairs,
        Signatures(runs, printed=False),
    ]


def all_blocks(rankings: Sequence[Ranking]) -> list[Block]:
    """Several rankings, and why they are several."""
    return [*(block for one in rankings for block in blocks(one)), Legend(LEGEND), *map(Paragraph, reasons(rankings))]


def tables(ranking: Ranking) -> list[Table]:
    """The scores, and what puts them into proportion."""
    places = tuple(f"{place}" for place, _ in enumerate(ranking.rows, 1))
    shown = [measure for measure in ranking.measures if ranking.has(measure)]
    scores = [Column("model", tuple(map(_name, ranking.rows)))]
    scores += [column for measure in shown if measure.main for column in _columns(ranking, measure)]
    scores.append(Column("rank", tuple(map(_ranks, ranking.rows))))
    scores.append(Column("tied", tuple(_places(row.tied) for row in ranking.rows)))
    others = [column for measure in shown if not measure.main for column in _columns(ranking, measure)]
    return [Table("", places, tuple(columns), corner="", undefined=True, whole=True) for columns in (scores, others)]


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

    columns = tuple(Column(f"{b}", tuple(cell(a, b) for a in places)) for b in places)
    return Table("", tuple(map(str, places)), columns, corner="", undefined=True, whole=True)


def _columns(ranking: Ranking, measure: Measure) -> list[Column]:
    found = [row.values[measure.key] for row in ranking.rows]
    columns = [Column(measure.heading, tuple(NOTHING if one is None else in_unit(measure, one.value) for one in found))]
    if measure.interval:
        columns.append(Column(INTERVAL, tuple(interval(one, sign=measure.unit == POINTS) for one in found)))
    return columns


def in_unit(measure: Measure, value: float) -> str:
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
    found = []
    for number, other in enumerate(others, start=2):
        apart = [name for name, value in first.asked.items() if other.asked.get(name) != value]
        if "benchmark" in apart:  # which other options there are, follows from it
            apart = ["benchmark"]
        shown = "; ".join(f"{name} ({other.asked.get(name)}, not {first.asked[name]})" for name in apart)
        found.append(f"Ranking {number} is apart from the first because it differs in {shown}.")
    return found


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
        "measures": {one.key: {"heading": one.heading, "unit": one.unit, "kind": one.kind} for one in ranking.measures},
        "runs": [
            {
                "model": row.run.model,
                "label": row.run.label,
                "signature": signature_line(row.run),
                "rank": row.rank,
                "ranks": row.ranks,
                "tied": row.tied,
                "measures": {key: None if value is None else vars(value) for key, value in row.values.items()},
            }
            for row in ranking.rows
        ],
        "pairs": [
            {"first": pair.first, "second": pair.second, "difference": vars(pair.difference), "p": pair.p}
            for pair in ranking.pairs
        ],
    }


def as_csv(rankings: Sequence[Ranking]) -> str:
    """One row per run; numbers in full, shares from 0 to 1, empty where undefined; the keys of the caveats about the run."""
    of_key = {measure.key: measure for ranking in rankings for measure in ranking.measures}
    listed = sorted(of_key.values(), key=lambda measure: KINDS.index(measure.kind))
    main, others = ([measure for measure in listed if measure.main is first] for first in (True, False))
    header = ["ranking", "place", "rank", "rank_low", "rank_high", "model", "method"]
    header += [*_header(main), "cases", "users", *_header(others), "caveats", "signature"]
    lines: list[list[Any]] = [header]
    for number, ranking in enumerate(rankings, start=1):
        for place, row in enumerate(ranking.rows, start=1):
            known = [one.key for one in ranking.caveats if not one.about or f"{place}" in one.about]
            fields = [number, place, row.rank, *row.ranks, row.run.model, row.run.method.name]
            fields += [*_cells(main, row), ranking.cases, ranking.users, *_cells(others, row)]
            lines.append([*fields, " ".join(known), signature_line(row.run)])
    return lines_text(lines)


def _header(measures: Sequence[Measure]) -> list[str]:
    found = []
    for measure in measures:
        ends = ("low", "high") if measure.key == SCORE else (f"{measure.key}_low", f"{measure.key}_high")
        found += [measure.key, *(ends if measure.interval else ())]
    return found


def _cells(measures: Sequence[Measure], row: Ranked) -> list[str]:
    found = []
    for measure in measures:
        one = row.values.get(measure.key)
        ends = ("low", "high") if measure.interval else ()
        found += [_number(getattr(one, name, math.nan)) for name in ("value", *ends)]
    return found


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6f}"
