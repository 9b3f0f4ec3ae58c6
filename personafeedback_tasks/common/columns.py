"""Rows of texts as lines, for commands that need no extra for their tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def in_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A line for each row, its cells below those of the row above. Columns whose last cell is a number are on the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = [cell.replace(",", "").isdigit() for cell in rows[-1]]
    for row in rows:
        cells = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numbers, strict=True)
        )
        yield "  ".join(cells).rstrip()
