"""The cells of the benchmark: a category and a difficulty. Their order is the order of cells everywhere."""

from __future__ import annotations

from collections.abc import Collection

CATEGORIES = ("specific", "general")
DIFFICULTIES = ("easy", "medium", "hard")

PAPER_COUNTS = {
    "specific_easy": 1108,
    "specific_medium": 1667,
    "specific_hard": 1682,
    "general_easy": 1510,
    "general_medium": 1321,
    "general_hard": 1010,
}
"""Cases per cell (arXiv 2506.12915, Table 2); 8,298 in all."""

CELLS = tuple(PAPER_COUNTS)


def category_of(cell: str) -> str:
    """`general_hard` -> `general`."""
    return cell.partition("_")[0]


def difficulty_of(cell: str) -> str:
    """`general_hard` -> `hard`."""
    return cell.partition("_")[2]


SELECTIONS: dict[str, dict[str, str]] = {
    "": {},
    **{category: {"category": category} for category in CATEGORIES},
    **{difficulty: {"difficulty": difficulty} for difficulty in DIFFICULTIES},
    **{cell: {"category": category_of(cell), "difficulty": difficulty_of(cell)} for cell in CELLS},
}
"""End of a task's name -> the cases that it asks."""


def columns(cells: Collection[str]) -> dict[str, list[str]]:
    """Column of a table -> its cells: each cell, a category with several of them, `total` over both categories."""
    present = [cell for cell in CELLS if cell in cells]
    found = {cell: [cell] for cell in present}
    for category in CATEGORIES:
        members = [cell for cell in present if category_of(cell) == category]
        if len(members) > 1:
            found[category] = members
    if {*map(category_of, present)} == {*CATEGORIES}:
        found["total"] = present
    return found
