"""The command that prints the tables of the paper: paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..personafeedback.paper import tables
from .options import json_option
from .output import needs_tables, write_json

if TYPE_CHECKING:
    from rich.console import RenderableType

DEFAULT = ("2", "3", "4", "6", "7")

NOT_COMPARABLE = (
    "The numbers of the paper (arXiv 2506.12915), as printed. Do not compare scores of this package with them as if they were of "
    "one experiment: we found neither the authors' prompt nor their order of the options nor their decoding."
)
FORMATS = {
    "cases": "{:,}",
    "accuracy, per cent": "{:.1f}",
    "accuracy, share": "{:.2f}",
    "per cent": "{:.2f}",
    "Hugging Face id": "{}",
}
"""Unit -> a cell as the paper prints it."""
SHORT = {"specific": "spec", "general": "gen", "medium": "med"}
"""Table 3 has ten columns."""


@click.command("paper")
@click.option(
    "--table", "number", type=click.Choice(tuple(tables())), help="Only this table.  [default: 2, 3, 4, 6 and 7]"
)
@json_option
def paper(number: str | None, json_file: Path | None) -> None:
    """Print the tables of the paper, as they are in it.

    \b
        personafeedback paper
        personafeedback paper --table 3 --json table3.json
    """
    needs_tables(json_file)
    asked = tables() if number is None else {number: tables()[number]}
    if write_json(json_file, {"not_comparable": NOT_COMPARABLE, "tables": asked}):
        from ..reports import terminal

        shown = [key for key in asked if number or key in DEFAULT]
        terminal.show([terminal.line(NOT_COMPARABLE), *(part for key in shown for part in _parts(key))])


def _parts(number: str) -> list[RenderableType]:
    from ..reports import terminal

    table = tables()[number]
    header = ["", *(" ".join(SHORT.get(word, word) for word in key.split("_")) for key in table["columns"])]
    rows: list[tuple[str, ...]] = []
    bold = []
    group = None
    for row in table["rows"]:
        if row["group"] != group:
            group = row["group"]
            bold.append(len(rows))
            rows.append((str(group), *("" for _ in table["columns"])))
        rows.append((row["name"], *(_cell(table, row, key) for key in table["columns"])))
    scenarios = [f"{row['name']}: {', '.join(row['scenarios'])}" for row in table["rows"] if "scenarios" in row]
    return [
        terminal.line(""),
        terminal.line(f"Table {number} ({table['section']}): {table['caption']}", style="bold"),
        terminal.table(header, rows, bold=bold, tight=len(header) > 8),
        *map(terminal.line, scenarios),
        *(terminal.line(f"- {note}") for note in table["notes"]),
    ]


def _cell(table: dict[str, Any], row: dict[str, Any], key: str) -> str:
    return FORMATS[table["unit"]].format(row["cells"][key])
