"""A table whose rows are cells, groups of them or runs: defined once, drawn on a terminal and in Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rich.console import RenderableType

from ..common import foreign
from ..common.statistics import Estimate, percent
from ..engine.report import Line
from . import terminal as console

NOTHING = "–"
"""What is undefined or unknown."""

INTERVAL = "95 % interval"


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        heading: what its numbers are.
        texts: one per row.
        strong: whether it is highlighted.
        joined: whether it stays with the column before where a table is too wide for one.
    """

    heading: str
    texts: tuple[str, ...]
    strong: bool = False
    joined: bool = False


@dataclass(frozen=True)
class Table:
    """Numbers by cell, or by run.

    Attributes:
        heading: what they have in common; empty where the block above says so.
        labels: of the rows.
        columns: in order.
        corner: above the labels: the unit.
        undefined: whether a column that is undefined everywhere is shown, too.
        whole: whether a file has it as one table, however wide.
    """

    heading: str
    labels: tuple[str, ...]
    columns: tuple[Column, ...]
    corner: str = "%"
    undefined: bool = False
    whole: bool = False

    @property
    def shown(self) -> list[Column]:
        """The columns that have something to show; none without rows."""
        if not self.labels:
            return []
        return [column for column in self.columns if self.undefined or any(text != NOTHING for text in column.texts)]

    @property
    def header(self) -> list[str]:
        """The corner, and the heading of each column."""
        return [self.corner, *(column.heading for column in self.shown)]

    @property
    def rows(self) -> list[list[str]]:
        """The texts of each row after its label."""
        return [[label, *(column.texts[row] for column in self.shown)] for row, label in enumerate(self.labels)]

    @property
    def joined(self) -> list[int]:
        """The places in a row of the columns that stay with the one before."""
        return [place for place, column in enumerate(self.shown, 1) if column.joined]

    @property
    def strong(self) -> list[int]:
        """The places in a row of the columns that are highlighted."""
        return [place for place, column in enumerate(self.shown, 1) if column.strong]

    def terminal(self) -> list[RenderableType]:
        if not self.shown:
            return []
        heading = [console.line(self.heading, style="bold")] if self.heading else []
        return [*heading, *console.tables(self.header, self.rows, self.joined, self.strong)]

    def markdown(self) -> list[str]:
        if not self.shown:
            return []
        parts = [f"### {foreign.markdown(self.heading)}"] if self.heading else []
        header = list(map(foreign.markdown, self.header))
        rows = [
            [f"**{text}**" if place in self.strong else text for place, text in enumerate(map(foreign.markdown, row))]
            for row in self.rows
        ]
        fitting = [places for places, _ in console.fitting(self.header, self.rows, self.joined)]
        for places in [range(len(self.header))] if self.whole else fitting:
            parts.append(_grid(*([row[place] for place in places] for row in (header, *rows))))
        return parts


def of_rows(heading: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """A table of complete rows, of which every column is shown."""
    corner, *names = header
    labels, *texts = (tuple(str(row[place]) for row in rows) for place, _ in enumerate(header))
    columns = tuple(Column(name, column) for name, column in zip(names, texts, strict=True))
    return Table(heading, labels, columns, corner, undefined=True)


def with_interval(
    heading: str, estimates: Sequence[Estimate | None], sign: bool = False, strong: bool = True
) -> list[Column]:
    """A score or a difference, and its interval beside it."""
    values = tuple(NOTHING if estimate is None else percent(estimate.value, sign) for estimate in estimates)
    return [
        Column(heading, values, strong),
        Column(INTERVAL, tuple(interval(estimate, sign) for estimate in estimates), joined=True),
    ]


def measured(line: Line, estimates: Sequence[Estimate]) -> list[Column]:
    """A measure as a line of the benchmark's record has it, with its interval where the line says so."""
    columns = [Column(line.title, tuple(number(line, estimate.value) for estimate in estimates), line.strong)]
    if line.interval:
        ends = [_within(estimate) if line.share else estimate for estimate in estimates]
        columns.append(Column(INTERVAL, tuple(map(interval, ends)), joined=True))
    return columns


def _within(estimate: Estimate) -> Estimate:
    """The part of an interval in [0, 1]: a jackknife does not know that a share ends there."""
    if math.isnan(estimate.low):
        return estimate
    return replace(estimate, low=max(0.0, estimate.low), high=min(1.0, estimate.high))


def number(line: Line, value: float) -> str:
    """A value as a line has it."""
    if line.share:
        return percent(value)
    return signed(value) if line.sign else ratio(value)


def interval(estimate: Estimate | None, sign: bool = False) -> str:
    """The 95 % interval in percent."""
    if estimate is None or math.isnan(estimate.low):
        return NOTHING
    between = " to " if sign or estimate.low < 0 else "–"
    return f"{percent(estimate.low, sign)}{between}{percent(estimate.high, sign)}"


def with_ends(estimate: Estimate, text: Callable[[float], str] = percent) -> str:
    """An estimate in a sentence: its value, and its interval in parentheses.

    Args:
        text: of a number.
    """
    return f"{text(estimate.value)} ({text(estimate.low)} to {text(estimate.high)})"


def points(value: float) -> str:
    """A difference of shares, in percentage points."""
    return f"{100 * value:+.1f}"


def signed(value: float, digits: int = 3) -> str:
    """A correlation, or another number in [-1, 1]."""
    return NOTHING if math.isnan(value) else f"{value:+.{digits}f}"


def ratio(value: float) -> str:
    """A number from 0 on."""
    return NOTHING if math.isnan(value) else f"{value:.3f}"


def spaced(name: str) -> str:
    """`general_hard` -> `general hard`."""
    return name.replace("_", " ")


def _grid(header: Sequence[str], *rows: Sequence[str]) -> str:
    """A Markdown table: the first column left, the others right."""
    ruler = [":--", *["--:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ruler, *rows))
