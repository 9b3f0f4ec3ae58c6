"""The tables of the paper: their averages follow from their cells."""

from __future__ import annotations

import pytest

from personafeedback_tasks.personafeedback.cells import CELLS, PAPER_COUNTS
from personafeedback_tasks.personafeedback.paper import tables

COUNTS = {"_".join(cell): count for cell, count in PAPER_COUNTS.items()}
AVERAGES = {"specific_avg": "specific", "general_avg": "general", "total_avg": ""}
"""Column -> what the cells that it is the average of begin with."""


def weighted(cells: dict[str, float], beginning: str = "") -> float:
    """The mean of some cells, weighted by their number of cases (Table 2)."""
    members = [cell for cell in CELLS if cell.startswith(beginning)]
    return sum(cells[cell] * COUNTS[cell] for cell in members) / sum(COUNTS[cell] for cell in members)


@pytest.mark.parametrize("number", ["3", "6"])
def test_printed_averages_are_weighted_by_cases(number: str) -> None:
    """To 0.1, since cells and averages are rounded separately; the only other one is listed as an erratum."""
    slips = {(slip["name"], slip["column"]) for slip in tables()[number].get("errata", ())}
    for row in tables()[number]["rows"]:
        for column, beginning in AVERAGES.items():
            off = abs(row["cells"][column] - weighted(row["cells"], beginning)) > 0.1 + 1e-9
            assert off == ((row["name"], column) in slips), (row["name"], column)


def test_table_4_is_weighted_by_cases() -> None:
    of = {(row["group"], row["name"]): row["cells"] for row in tables()["4"]["rows"]}
    for category in ("specific", "general"):
        for aspect in tables()["4"]["columns"]:
            cells = {f"{category}_{level}": of[category, level][aspect] for level in ("easy", "medium", "hard")}
            assert of[category, "whole"][aspect] == round(weighted(cells, category), 2), (category, aspect)


def test_table_2_is_what_the_loader_requires() -> None:
    (row,) = tables()["2"]["rows"]
    assert row["cells"] == {**COUNTS, "total": sum(COUNTS.values())}
