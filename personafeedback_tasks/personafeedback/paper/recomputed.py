"""The averages of the paper's tables, from their own cells."""

from __future__ import annotations

from .tables import AVERAGES, MACRO, Row, Table, averages, same_model, table, weighted

LEVELS = ("easy", "medium", "hard")
"""The rows of Table 4 that its row `whole` is the average of."""


def recomputed(of: Table, row: Row) -> dict[str, float]:
    """Column -> what the row's average must be; empty for a row that has none.

    Tables 3, 4 and 6 are weighted by cases. Table 7 has no cells: `macro` is the plain mean of the model's in Table 3.
    """
    if of.number in ("3", "6"):
        found = averages(row.cells)
        return {column: found[group] for column, group in AVERAGES.items()}
    if of.number == "4" and row.name == "whole":
        levels = {f"{row.group}_{level}": of.row(level, row.group).cells for level in LEVELS}
        return {
            aspect: weighted({cell: values[aspect] for cell, values in levels.items()}, levels) for aspect in of.columns
        }
    if of.number == "7":
        return {MACRO: averages(in_table_3(row.name).cells)[MACRO]}
    return {}


def in_table_3(name: str) -> Row:
    """The row of Table 3 of a model that Table 7 may name without its date."""
    (found,) = [row for row in table("3").rows if same_model(name, row.name)]
    return found
