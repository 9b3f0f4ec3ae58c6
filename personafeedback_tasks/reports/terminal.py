"""Lines and tables on a terminal. Nothing is cut at any width, and in a pipe or a file every row is one line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..common import foreign


def line(text: str, style: str = "") -> Text:
    """One line, which a terminal wraps."""
    return Text(foreign.terminal(text), style=style)


def table(
    header: Sequence[str], rows: Iterable[Sequence[object]], bold: Collection[int] = (), tight: bool = False
) -> Table:
    """A table with names in the first column and numbers in the others.

    Args:
        header: `general_hard` takes two lines.
        bold: the rows that matter most, from 0 on.
        tight: one space between columns, for a table that would not fit a terminal of 80 columns with two.
    """
    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 0 if tight else 1, 0, 0))
    for number, name in enumerate(header):
        heading = foreign.terminal(name).replace("_", "\n")
        drawn.add_column(heading, justify="right" if number else "left", no_wrap=True)
    for number, row in enumerate(rows):
        drawn.add_row(*(foreign.terminal(str(value)) for value in row), style="bold" if number in bold else "")
    return drawn


def show(parts: Sequence[RenderableType]) -> None:
    """Print lines and tables. A table that is wider than the terminal is wrapped by it, never cut."""
    console = Console(highlight=False, markup=False, emoji=False)  # brackets and colons are part of names
    unlimited = console.options.update(width=10_000)
    tables = [Measurement.get(console, unlimited, part).maximum for part in parts if isinstance(part, Table)]
    console.width = max(console.width, *tables)
    with console.capture() as drawn:
        for part in parts:
            console.print(part, soft_wrap=not console.is_terminal)
    print("\n".join(row.rstrip() for row in drawn.get().splitlines()))
