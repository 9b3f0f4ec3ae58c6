"""A table whose rows are cells, groups of them or runs: defined once, drawn on a terminal and in Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import RenderableType

from ..common import foreign
from ..core.report import DIFFERENCE, RATIO, SHARE, Line
from ..stats.estimates import Estimate, percent
from . import terminal as console

NOTHING = "–"
"""Text for an undefined or unknown value."""

NOT_MEASURED = "not measured"
"""Text for a difference to a control that no answer could have moved."""

INTERVAL = "95 % interval"

UNITS = {SHARE: "%", DIFFERENCE: "points"}
"""Unit of a measure -> what people read it in; without those that are plain numbers."""


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        texts: one per row.
        joined: whether it stays with the column before where a table is too wide for one.
    """

    heading: str
    texts: tuple[str, ...]
    strong: bool = False
    joined: bool = False
    left: bool = False


@dataclass(frozen=True)
class Table:
    """Numbers by cell, or by run.

    Attributes:
        heading: what they have in common; empty where the block above says so.
        corner: above the labels.
        undefined: whether a column that is undefined everywhere is shown, too.
        whole: whether a file or a pipe has it as one table, however wide.
        single: whether it has one row, whose label everybody knows: a terminal shows its columns below each other.
    """

    heading: str
    labels: tuple[str, ...]
    columns: tuple[Column, ...]
    corner: str = ""
    undefined: bool = False
    whole: bool = False
    single: bool = False

    @property
    def shown(self) -> list[Column]:
        """The columns that have something to show; none without rows."""
        if not self.labels:
            return []
        return [column for column in self.columns if self.undefined or any(text != NOTHING for text in column.texts)]

    def terminal(self) -> list[RenderableType]:
        parts = self._parts(self.whole and not console.is_terminal())
        heading = [console.line(self.heading, style="bold")] if self.heading and parts else []
        if self.single and parts:
            return [*heading, self._upright()]
        return [*heading, *map(self._drawn, parts)]

    def _upright(self) -> RenderableType:
        # a row for each column, with those that are joined to it beside it
        blocks, rows = self._blocks(), []
        names = dict.fromkeys(column.heading for _, *joined in blocks for column in joined)
        for first, *joined in blocks:
            beside = {column.heading: column.texts[0] for column in joined}
            rows.append([first.heading, first.texts[0], *(beside.get(name, "") for name in names)])
        strong = [place for place, (first, *_) in enumerate(blocks) if first.strong]
        return console.table([self.corner, "", *names], rows, bold=strong)

    def _drawn(self, columns: Sequence[Column]) -> RenderableType:
        every = self._with_labels(columns)
        strong = [place for place, column in enumerate(every) if column.strong]
        left = [place for place, column in enumerate(every) if column.left]
        rows = zip(*(column.texts for column in every), strict=True)
        return console.table([column.heading for column in every], rows, strong=strong, left=left)

    def markdown(self) -> list[str]:
        parts = self._parts(self.whole)
        heading = [f"### {foreign.markdown(self.heading)}"] if self.heading and parts else []
        return [*heading, *map(self._grid, parts)]

    def _grid(self, columns: Sequence[Column]) -> str:
        header, ruler, texts = [], [], []
        for column in self._with_labels(columns):
            header.append(foreign.markdown(column.heading))
            ruler.append(":--" if column.left else "--:")
            shown = map(foreign.markdown, column.texts)
            texts.append([f"**{text}**" if column.strong and text != NOTHING else text for text in shown])
        return "\n".join(f"| {' | '.join(row)} |" for row in (header, ruler, *zip(*texts, strict=True)))

    def _with_labels(self, columns: Sequence[Column]) -> list[Column]:
        return [Column(self.corner, self.labels, left=True), *columns]

    def _blocks(self) -> list[list[Column]]:
        # columns that stay together
        blocks: list[list[Column]] = []
        for column in self.shown:
            if column.joined and blocks:
                blocks[-1].append(column)
            else:
                blocks.append([column])
        return blocks

    def _parts(self, whole: bool) -> list[list[Column]]:
        # the columns of each part that fits console.WIDTH beside the labels; all in one if `whole`
        gap, left = 2, 0
        label = min(console.width_of(self.corner, self.labels), console.LONGEST) + gap
        parts: list[list[Column]] = []
        for block in self._blocks():
            width = sum(console.width_of(column.heading, column.texts) + gap for column in block)
            if parts and (whole or width <= left):
                parts[-1] += block
            else:
                parts.append(block)
                left = console.WIDTH - label
            left -= width
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
    """A score or a difference (`sign`), and its interval beside it."""
    return measured(Line(heading, strong=strong, interval=True, unit=DIFFERENCE if sign else SHARE), estimates)


def measured(line: Line, estimates: Sequence[Estimate | None], absent: str = NOTHING) -> list[Column]:
    """Columns of a measure in its unit and form, with its interval where the line says so.

    Args:
        absent: text for one that is missing.
    """
    texts = []
    for one in estimates:
        if one is None:
            texts.append(absent)
        else:
            texts.append(line.none.format(n=one.n) if line.none and one.value == 0 else number(one.value, line.unit))
    columns = [Column(in_unit(line.label, line.unit), tuple(texts), line.strong)]
    if line.interval:
        columns.append(Column(INTERVAL, tuple(interval(one, line.unit) for one in estimates), joined=True))
    return columns


def in_unit(label: str, unit: str = SHARE) -> str:
    """The heading of a column, or the label of a row, with its unit: `acc (%)`."""
    return f"{label} ({UNITS[unit]})" if unit in UNITS else label


def number(value: float, unit: str = SHARE) -> str:
    """A value in its unit, one of `Line.unit`: shares and their differences in percent."""
    if unit == SHARE:
        return percent(value)
    if unit == DIFFERENCE:
        return NOT_MEASURED if math.isnan(value) else percent(value, sign=True)
    if unit == RATIO:
        return NOTHING if math.isnan(value) else f"{value:.3f}"
    return signed(value)


def interval(estimate: Estimate | None, unit: str = SHARE) -> str:
    """The 95 % interval in a unit, as `number` has it."""
    if estimate is None or math.isnan(estimate.low):
        return NOTHING
    if unit == SHARE:  # a jackknife does not know that a share ends at 0 and 1
        return f"{percent(max(0.0, estimate.low))}–{percent(min(1.0, estimate.high))}"
    return f"{number(estimate.low, unit)} to {number(estimate.high, unit)}"


def with_ends(estimate: Estimate, text: Callable[[float], str] = percent) -> str:
    """An estimate in a sentence: its value, and its interval in parentheses where that is known."""
    if math.isnan(estimate.low):
        return text(estimate.value)
    return f"{text(estimate.value)} ({text(estimate.low)} to {text(estimate.high)})"


def signed(value: float, digits: int = 3) -> str:
    """A correlation, or another number in [-1, 1]."""
    return NOTHING if math.isnan(value) else f"{round(value, digits) + 0.0:+.{digits}f}"  # no -0.0


def spaced(name: str) -> str:
    """`general_hard` -> `general hard`."""
    return name.replace("_", " ")


def money(dollars: float) -> str:
    """Dollars as text, with cents as far as they matter."""
    return NOTHING if math.isnan(dollars) else f"{dollars:,.2f}" if dollars >= 1 or not dollars else f"{dollars:.2g}"
