"""A ranking as tables: on a terminal, in Markdown, and as CSV."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType

from ..common import foreign
from ..common.tables import lines_text
from ..runs.signature_line import signature_line
from . import table as layout
from .rank import LEVEL, Ranking
from .table import NOTHING, grid, interval, percent
from .terminal import line, tables

LEGEND = (
    "acc in percent; intervals clustered by user. rank: the places that a run may have, all of them right at once in 95 % of rankings. tied: the "
    "other places that a run cannot be told apart from (paired; sign flips and bootstrap-t over users, the largest |t| over all pairs, 5 % level). Differences to "
    "a baseline or a control are in points, on the cases that both answered."
)
TOKENS = "tokens a case"
MATRIX = "Row minus column, in points; a star marks pairs that are told apart"


def title(ranking: Ranking) -> str:
    """What the runs of a ranking share, in a line."""
    options = ranking.rows[0].run.benchmark.options
    remarks = [*options.remarks(ranking.asked)] or ["default options"]
    return (
        f"{ranking.rows[0].run.title}, {', '.join(remarks)}, prompt {ranking.asked['fingerprint']}, task version "
        f"{ranking.asked['task_version']}: {ranking.cases:,} cases of {ranking.users:,} users ({', '.join(ranking.cells)})"
    )


def result(ranking: Ranking) -> tuple[list[str], list[list[str]]]:
    """(header, rows) of the table of scores."""
    macro = any(row.macro for row in ranking.rows)
    header = ["", "model", "acc", "95 % interval", *(["macro"] if macro else []), "rank", "tied"]
    rows = []
    for place, row in enumerate(ranking.rows, start=1):
        shown = [percent(row.macro.value) if row.macro else NOTHING] if macro else []
        ranks = f"{row.ranks[0]}–{row.ranks[1]}" if row.ranks[0] < row.ranks[1] else f"{row.rank}"
        score = percent(row.score.value), interval(row.score)
        rows.append([f"{place}", _name(ranking, place), *score, *shown, ranks, _places(row.tied)])
    return header, rows


def details(ranking: Ranking) -> tuple[list[str], list[list[str]]]:
    """(header, rows) of what puts the scores into proportion."""
    first = ranking.rows[0]
    differences = dict.fromkeys(name for row in ranking.rows for name in row.differences)
    columns = [
        [_column(f"over_{name}"), *(percent(row.margins[name].value, sign=True) for row in ranking.rows)]
        for name in first.margins
    ]
    if ranking.covariate:
        columns.append(
            [ranking.covariate, *(percent(row.adjusted.value) if row.adjusted else NOTHING for row in ranking.rows)]
        )
    for name in differences:
        found = [row.differences.get(name) for row in ranking.rows]
        columns.append([name, *(percent(one.value, sign=True) if one else NOTHING for one in found)])
    spec = first.run.benchmark.report
    columns += [
        [name, *(layout.number(spec.line(name), row.measures[name].value) for row in ranking.rows)]
        for name in first.measures
    ]
    if not all(math.isnan(row.tokens) for row in ranking.rows):
        columns.append([TOKENS, *(NOTHING if math.isnan(row.tokens) else f"{row.tokens:,.0f}" for row in ranking.rows)])
    header, *rows = zip(["", *(f"{place}" for place in range(1, len(ranking.rows) + 1))], *columns, strict=True)
    return list(header), [list(row) for row in rows]


def matrix(ranking: Ranking) -> tuple[list[str], list[list[str]]]:
    """(header, rows) of all pairs."""
    gap = {(pair.first, pair.second): pair for pair in ranking.pairs}
    places = range(1, len(ranking.rows) + 1)

    def cell(a: int, b: int) -> str:
        if a == b:
            return ""
        pair = gap[min(a, b), max(a, b)]
        value = pair.difference.value if a < b else -pair.difference.value
        return percent(value, sign=True) + ("*" if pair.p < LEVEL else "")

    return ["", *map(str, places)], [[f"{a}", *(cell(a, b) for b in places)] for a in places]


def _places(places: Sequence[int]) -> str:
    """Ascending places with their runs as ranges: `2–4, 6`."""
    ranges: list[list[int]] = []
    for place in places:
        if ranges and place == ranges[-1][-1] + 1:
            ranges[-1].append(place)
        else:
            ranges.append([place])
    return ", ".join(f"{group[0]}–{group[-1]}" if len(group) > 1 else f"{group[0]}" for group in ranges) or NOTHING


def _column(name: str) -> str:
    """The name of a column, without spaces."""
    return name.replace(" ", "_")


def _name(ranking: Ranking, place: int) -> str:
    run = ranking.rows[place - 1].run
    return run.model if run.method is next(iter(run.benchmark.methods.values())) else f"{run.model} ({run.method.name})"


def terminal(rankings: Sequence[Ranking]) -> list[RenderableType]:
    """What `terminal.show` prints."""
    parts: list[RenderableType] = []
    for ranking in rankings:
        parts += [line(title(ranking), style="bold"), *(line(f"! {note}") for note in ranking.notes)]
        parts += [*tables(*result(ranking)), *tables(*details(ranking))]
        if len(ranking.rows) > 1:
            parts += [line(MATRIX), *tables(*matrix(ranking))]
    return [*parts, line(LEGEND, style="dim"), *(line(text) for text in reasons(rankings))]


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


def markdown(rankings: Sequence[Ranking]) -> str:
    """Sections of a Markdown file."""
    parts = []
    for ranking in rankings:
        parts.append(f"## {foreign.markdown(title(ranking))}")
        if ranking.notes:
            parts.append("\n".join(f"> {foreign.markdown(note)}  " for note in ranking.notes))
        for header, rows in (result(ranking), details(ranking)):
            parts.append(_grid(header, rows))
        if len(ranking.rows) > 1:
            parts += [f"{MATRIX}:", _grid(*matrix(ranking))]
        parts.append(
            "\n".join(
                f"{place}: {foreign.code(signature_line(row.run))}  " for place, row in enumerate(ranking.rows, 1)
            )
        )
    return "\n\n".join([*parts, LEGEND, *map(foreign.markdown, reasons(rankings))]) + "\n"


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return grid(
        [foreign.markdown(name.replace("_", " ")) for name in header],
        [list(map(foreign.markdown, row)) for row in rows],
    )


def as_csv(rankings: Sequence[Ranking]) -> str:
    """One row per run; numbers in full, shares from 0 to 1, empty where undefined."""
    every = [row for ranking in rankings for row in ranking.rows]
    measures = dict.fromkeys(name for row in every for name in row.measures)
    margins = dict.fromkeys(name for row in every for name in row.margins)
    differences = dict.fromkeys(name for row in every for name in row.differences)
    adjusted = next((ranking.covariate for ranking in rankings if ranking.covariate), "")
    lines: list[list[Any]] = [
        ["ranking", "place", "rank", "rank_low", "rank_high", "model", "method", "acc", "low", "high", "macro", "cases", "users"]
        + [_column(f"over_{name}") for name in margins] + [_column(name) for name in (*([adjusted] if adjusted else []), *differences)]
        + [*measures, "tokens", "signature"]
    ]  # fmt: skip
    for number, ranking in enumerate(rankings, start=1):
        for place, row in enumerate(ranking.rows, start=1):
            lines.append(
                [number, place, row.rank, *row.ranks, row.run.model, row.run.method.name]
                + [_number(x) for x in (row.score.value, row.score.low, row.score.high)]
                + [_number(row.macro.value) if row.macro else "", ranking.cases, ranking.users]
                + [_number(row.margins[name].value) if name in row.margins else "" for name in margins]
                + ([_number(row.adjusted.value) if row.adjusted else ""] if adjusted else [])
                + [_number(row.differences[name].value) if name in row.differences else "" for name in differences]
                + [_number(row.measures[name].value) if name in row.measures else "" for name in measures]
                + [_number(row.tokens), signature_line(row.run)]
            )  # fmt: skip
    return lines_text(lines)


def _number(value: float) -> str:
    return "" if value != value else f"{value:.6f}"
