"""The tables of the paper, on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import RenderableType

from ..personafeedback.paper.tables import MACRO, PaperRow, PaperTable, recomputed, table
from ..reports import terminal

FORMATS = {"cases": "{:,}", "accuracy, per cent": "{:.1f}", "accuracy, share": "{:.2f}", "per cent": "{:.2f}"}
"""Unit -> a number as the paper prints it."""
SHORT = {"specific": "spec", "general": "gen", "medium": "med"}
"""Table 3 has ten columns."""
IN_TABLE_3 = {MACRO: "Table 3 macro"}
"""A column beside those of Table 7."""


def parts(numbers: Iterable[str], lead: str) -> list[RenderableType]:
    """Some tables, each with what recomputing its averages found."""
    return [terminal.line(lead), *(part for number in numbers for part in _parts(table(number)))]


def _parts(printed: PaperTable) -> list[RenderableType]:
    header, rows, bold = _cells(printed)
    section = printed.section if printed.section.startswith("Appendix") else f"Section {printed.section}"
    scenarios = [(row.name, row.about["scenarios"]) for row in printed.rows if "scenarios" in row.about]  # of Table 5
    return [
        terminal.line(""),
        terminal.line(f"Table {printed.number} ({section}): {printed.caption}", style="bold"),
        terminal.table(header, rows, bold=bold, tight=len(header) > 8),
        *(terminal.line(f"{category}: {', '.join(names)}") for category, names in scenarios),
        *(terminal.line(f"* {sentence}") for sentence in _averages(printed)),
        *(terminal.line(f"- {note}") for note in printed.notes),
    ]


def _cells(printed: PaperTable) -> tuple[list[str], list[tuple[str, ...]], list[int]]:
    """(header, rows, which rows are the headings of a block)."""
    beside = IN_TABLE_3 if printed.number == "7" else {}
    is_training = printed.number == "6"
    columns = (" ".join(SHORT.get(word, word) for word in key.split("_")) for key in printed.columns)
    header = ["", *columns, *beside.values()]
    rows: list[tuple[str, ...]] = []
    bold: list[int] = []
    block: str | None = None
    for row in printed.rows:
        name = row.name if is_training else row.group
        if name != block:
            block = name
            bold.append(len(rows))
            rows.append((str(block), *("" for _ in header[1:])))
        computed = recomputed(printed, row)
        label = str(row.about["training"] or "as a generative judge") if is_training else row.name
        values = [_number(printed, row, key) + "*" * bool(_from_cells(printed, row, key)) for key in printed.columns]
        rows.append((label, *values, *(f"{computed[key]:.1f}" for key in beside)))
    return header, rows, bold


def _number(printed: PaperTable, row: PaperRow, key: str) -> str:
    return FORMATS[printed.units[key]].format(row.cells[key]) if key in printed.units else str(row.about[key])


def _from_cells(printed: PaperTable, row: PaperRow, key: str) -> str | None:
    """The recomputed average, where it differs from the printed one in the printed digits."""
    average = recomputed(printed, row).get(key)
    text = None if average is None else FORMATS[printed.units[key]].format(average)
    return None if text == _number(printed, row, key) else text


def _averages(printed: PaperTable) -> list[str]:
    """What recomputing the averages of a table found; nothing for a table without any."""
    if printed.number == "7":
        return ["Table 3, macro: the plain mean of the six cells of the model's row in Table 3."]
    if not any(recomputed(printed, row) for row in printed.rows):
        return []
    differing = [
        f"{row.name}, {printed.columns[key]}: {_number(printed, row, key)} (from cells {text})"
        for row in printed.rows
        for key in printed.columns
        if (text := _from_cells(printed, row, key)) is not None
    ]
    how = "from its cells, each weighted by its number of cases (Table 2)"
    if not differing:
        return [f"Every average follows {how}."]
    stars = f"Every average without a star follows {how}. The others, where a difference of 0.1 can be rounding:"
    return [stars, *differing]
