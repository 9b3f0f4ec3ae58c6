"""Lines and tables on a terminal. Nothing is cut at any width, and in a pipe or a file every row is one line."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..common import foreign

WIDTH = 80
"""Columns that a table takes at most, however wide the terminal is, unless one of its columns alone needs more."""

LONGEST = 24
"""Columns of a name before it is broken: a word in a heading, or a label on a narrow terminal."""


def is_terminal() -> bool:
    """Whether a person looks at what is printed: it is no pipe and no file."""
    return Console().is_terminal


def line(text: str, style: str = "") -> Text:
    """One line, which a terminal wraps."""
    return Text(foreign.terminal(text), style=style)


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    bold: Collection[int] = (),
    strong: Collection[int] = (),
    left: Collection[int] = (0,),
) -> Table:
    """A table with names in the first column and numbers in the others.

    Args:
        header: a name that is wider than its numbers takes several lines.
        bold: the rows that matter most, from 0 on.
        strong: the columns that matter most, from 0 on.
        left: the columns of names, from 0 on.
    """
    texts = [[foreign.terminal(str(value)) for value in row] for row in rows]
    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for number, name in enumerate(header):
        drawn.add_column(
            "\n".join(_heading(name, [row[number] for row in texts])),
            justify="left" if number in left else "right",
            no_wrap=number > 0,
            overflow="fold",
            style="bold" if number in strong else "",
        )
    for number, row in enumerate(texts):
        drawn.add_row(*row, style="bold" if number in bold else "")
    return drawn


def show(parts: Sequence[RenderableType]) -> None:
    """Print lines and tables, an empty line after each table; nothing for none.

    On a terminal that is too narrow for a table, its labels are wrapped; if that is not enough, so are its rows.
    """
    if not parts:
        return
    console = Console(highlight=False, markup=False, emoji=False)  # brackets and colons are part of names
    unlimited = console.options.update(width=10_000)
    drawn = [part for part in parts if isinstance(part, Table)]
    widths = [Measurement.get(console, unlimited, part).maximum for part in drawn]
    if console.is_terminal:
        widths = [width - _to_spare(part) for part, width in zip(drawn, widths, strict=True)]
    console.width = max([console.width, *widths])
    with console.capture() as captured:
        for part in parts:
            console.print(_hanging(part, console) if console.is_terminal else part, soft_wrap=not console.is_terminal)
            if isinstance(part, Table):
                console.print()
    print("\n".join(row.rstrip() for row in captured.get().splitlines()), flush=True)


def _hanging(part: RenderableType, console: Console) -> RenderableType:
    # a terminal indents the wrapped rows of an indented line as well
    if not isinstance(part, Text):
        return part
    indent = len(part.plain) - len(part.plain.lstrip())
    if not 0 < indent < console.width // 2:
        return part
    rows = part[indent:].wrap(console, console.width - indent)
    return Text("\n").join(Text(" " * indent).append(row) for row in rows)


def width_of(name: str, texts: Iterable[str]) -> int:
    """Columns of a terminal that a column of a table takes."""
    shown = list(map(foreign.terminal, texts))
    return max(map(cell_len, [*_heading(name, shown), *shown]))


def _heading(name: str, texts: Iterable[str]) -> list[str]:
    # as narrow as its numbers, but for a word that is wider
    shown = foreign.terminal(name)
    word = max([0, *map(cell_len, shown.split())])
    width = max([2, min(word, LONGEST), *map(cell_len, texts)])
    if cell_len(shown) > len(shown):  # textwrap counts characters, and Chinese ones take two columns
        width //= 2
    return textwrap.wrap(shown, width) or [""]


def _to_spare(drawn: Table) -> int:
    # columns by which the labels of a table may be wrapped
    labels = [cell_len(row) for cell in drawn.columns[0].cells for row in str(cell).split("\n")]
    return max(0, max([0, *labels]) - LONGEST)
