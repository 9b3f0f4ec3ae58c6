"""A table whose rows are cells, groups of them or runs: defined once, drawn on a terminal and in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
        """The columns that have something to show."""
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

    def markdown(self, level: int) -> list[str]:
        if not self.shown:
            return []
        parts = [f"{'#' * level} {foreign.markdown(self.heading)}"] if self.heading else []
        texts = [list(map(foreign.markdown, row)) for row in (self.header, *self.rows)]
        marked = [[f"**{text}**" if place in self.strong else text for place, text in enumerate(row)] for row in texts]
        every = [list(range(len(self.header)))]
        for some in every if self.whole else [some for some, _ in console.fitting(self.header, self.rows, self.joined)]:
            first, *others = [[row[column] for column in some] for row in marked]
            parts.append(grid(first, others))
        return parts


def with_interval(
    heading: str, estimates: Sequence[Estimate | None], sign: bool = False, strong: bool = True
) -> list[Column]:
    """A score or a difference, and its interval beside it."""
    values = tuple(NOTHING if one is None else percent(one.value, sign) for one in estimates)
    return [
        Column(heading, values, strong),
        Column(INTERVAL, tuple(interval(one, sign) for one in estimates), joined=True),
    ]


def measured(shown: Line, estimates: Sequence[Estimate]) -> list[Column]:
    """A measure as a line of the benchmark's record has it, with its interval where the line says so."""
    found = [Column(shown.title, tuple(number(shown, one.value) for one in estimates), shown.strong)]
    if shown.interval:
        ends = [_within(one) if shown.share else one for one in estimates]
        found.append(Column(INTERVAL, tuple(interval(one) for one in ends), joined=True))
    return found


def _within(one: Estimate) -> Estimate:
    """The part of an interval in [0, 1]: a jackknife does not know that a share ends there."""
    return one if math.isnan(one.low) else replace(one, low=max(0.0, one.low), high=min(1.0, one.high))


def number(shown: Line, value: float) -> str:
    """A value as a line has it."""
    if shown.share:
        return percent(value)
    return signed(value) if shown.sign else ratio(value)


def interval(estimate: Estimate | None, sign: bool = False) -> str:
    """The 95 % interval in percent."""
    if estimate is None or math.isnan(estimate.low):
        return NOTHING
    between = " to " if sign or estimate.low < 0 else "–"
    return f"{percent(estimate.low, sign)}{between}{percent(estimate.high, sign)}"


def signed(value: float) -> str:
    """A correlation, or another number in [-1, 1]."""
    return NOTHING if math.isnan(value) else f"{value:+.3f}"


def ratio(value: float) -> str:
    """A number from 0 on."""
    return NOTHING if math.isnan(value) else f"{value:.3f}"


def spaced(name: str) -> str:
    """`general_hard` -> `general hard`."""
    return name.replace("_", " ")


def grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: the first column left, the others right."""
    ruler = [":--", *["--:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ruler, *rows))
