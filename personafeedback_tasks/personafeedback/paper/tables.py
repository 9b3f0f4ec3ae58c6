"""The numbers of the paper's tables, and what can be recomputed from them.

Transcribed from the ICLR 2026 submission text of arXiv 2506.12915 (the arXiv PDF was not at hand and may differ) and checked in both
directions. Numbers are as printed; a slip is listed under `errata` and never corrected in place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ...common.errors import choose
from ..cells import DIFFICULTIES, PAPER_COUNTS
from ..cells import columns as groups_of

FILES = {
    "2": "table2_counts",
    "3": "table3_main",
    "4": "table4_helpsteer2_aspects",
    "5": "table5_scenarios",
    "6": "table6_reward_training",
    "7": "table7_settings",
    "8": "table8_models",
}

COUNTS = {"_".join(cell): count for cell, count in PAPER_COUNTS.items()}
"""Cell -> its number of cases (Table 2): the weights of the paper's averages."""

AVERAGES = {"specific_avg": "specific", "general_avg": "general", "total_avg": "total"}
"""Column of Tables 3 and 6 -> the group of cells that it is the average of."""

MACRO = "macro"
"""The plain mean of the six cells: what Table 7 has, by all signs."""


@dataclass(frozen=True)
class PaperRow:
    """One row of a table.

    Attributes:
        name: of the model, the subset or what else the row is about, as printed.
        group: the block of the table that it is in; None if there is only one.
        cells: column key -> number, as printed.
        about: the row's other fields.
    """

    name: str
    group: str | None
    cells: Mapping[str, float]
    about: Mapping[str, Any]


@dataclass(frozen=True)
class PaperTable:
    """One table of the paper.

    Attributes:
        number: as in `Table 3`.
        caption: what the numbers are, in our words.
        units: key -> unit, where there is one.
        rows: in the order of the paper.
        notes: what is known about the numbers, in our words.
        document: the whole file, for JSON.
    """

    number: str
    section: str
    caption: str
    columns: Mapping[str, str]
    units: Mapping[str, str]
    rows: tuple[PaperRow, ...]
    notes: tuple[str, ...]
    document: Mapping[str, Any]

    def row(self, name: str, group: str | None = None) -> PaperRow:
        """The first row of that name (and group).

        Raises:
            KeyError: there is none.
        """
        for row in self.rows:
            if row.name == name and group in (None, row.group):
                return row
        raise KeyError(name)

    def erratum(self, row: PaperRow, column: str) -> Mapping[str, Any] | None:
        """The known slip in one cell, if there is one."""
        for slip in self.document.get("errata", ()):
            if (slip["model"], slip["column"]) == (row.name, column):
                known_slip: Mapping[str, Any] = slip
                return known_slip
        return None


def same_model(short: str, name: str) -> bool:
    """Whether a name of Table 7, which leaves out dates, is that of Table 3."""
    return name == short or name.startswith(f"{short}-20")


@cache
def table(number: str) -> PaperTable:
    """One table of the paper.

    Raises:
        OptionError: it is not among FILES.
    """
    printed = document(FILES[choose("table", number, tuple(FILES))])
    source, columns = printed["source"], printed["columns"]
    return PaperTable(
        number=number,
        section=source["section"],
        caption=source["caption"],
        columns={column["key"]: column["label"] for column in columns},
        units={column["key"]: column["unit"] for column in columns if "unit" in column},
        rows=tuple(_row(row) for row in printed["rows"]),
        notes=tuple(printed["notes"]),
        document=printed,
    )


def recomputed(of: PaperTable, row: PaperRow) -> dict[str, float]:
    """Column -> the average that the cells of a row give; empty for a row without averages.

    Tables 3, 4 and 6 are weighted by cases. Table 7 has no cells: `macro` is the plain mean of the model's in Table 3.
    """
    if of.number in ("3", "6"):
        group_averages = averages(row.cells)
        return {column: group_averages[group] for column, group in AVERAGES.items()}
    if of.number == "4" and row.name == "whole":
        levels = {f"{row.group}_{level}": of.row(level, row.group).cells for level in DIFFICULTIES}
        return {
            aspect: weighted({cell: values[aspect] for cell, values in levels.items()}, levels) for aspect in of.columns
        }
    if of.number == "7":
        (in_table_3,) = [other for other in table("3").rows if same_model(row.name, other.name)]
        return {MACRO: averages(in_table_3.cells)[MACRO]}
    return {}


def averages(cells: Mapping[str, float]) -> dict[str, float]:
    """Averages of the six cells, as the paper takes them (weighted by cases), and `macro`.

    Args:
        cells: cell -> number; other keys are ignored. Averages of cells that are missing are left out.
    """
    present = {cell: cells[cell] for cell in COUNTS if cell in cells}
    group_averages = {
        name: weighted(present, members)
        for name, members in groups_of(present).items()
        if len(members) > 1 and set(members) == set(groups_of(COUNTS)[name])
    }
    return (
        {**group_averages, MACRO: sum(present.values()) / len(present)}
        if len(present) == len(COUNTS)
        else group_averages
    )


def weighted(cells: Mapping[str, float], members: Iterable[str]) -> float:
    """The mean of some cells, weighted by the number of their cases."""
    members = tuple(members)
    return sum(cells[cell] * COUNTS[cell] for cell in members) / sum(COUNTS[cell] for cell in members)


@cache
def document(name: str) -> dict[str, Any]:
    """A file of `tables/`; `verification` has every printed average beside those recomputed, and how many agree."""
    path = files(__package__) / "tables" / f"{name}.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _row(row: Mapping[str, Any]) -> PaperRow:
    name = row.get("model") or row.get("name") or row["subset"]
    about = {key: value for key, value in row.items() if key not in ("model", "name", "subset", "group", "cells")}
    return PaperRow(name, row["group"], row.get("cells", {}), about)
