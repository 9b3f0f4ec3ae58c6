"""The numbers of the paper: their averages follow from their cells, and every known slip is listed."""

from __future__ import annotations

import pytest

from personafeedback_tasks.personafeedback.paper import tables
from personafeedback_tasks.personafeedback.paper.tables import AVERAGES, COUNTS, MACRO, averages, table


@pytest.mark.parametrize("number", ["3", "6"])
def test_printed_averages_are_weighted_by_cases(number: str) -> None:
    """To 0.1, since cells and averages are rounded separately; the only other one is listed as an erratum."""
    found = table(number)
    for row in found.rows:
        recomputed = averages(row.cells)
        for column, group in AVERAGES.items():
            off = abs(row.cells[column] - recomputed[group]) > 0.1 + 1e-9
            assert off == (found.erratum(row, column) is not None), (row.name, column)


@pytest.mark.parametrize("number", ["3", "6"])
def test_totals_are_exact_from_the_two_rounded_averages(number: str) -> None:
    found = table(number)
    halves = {"specific_avg": 4457, "general_avg": 3841}
    for row in found.rows:
        rounded = {column: (found.erratum(row, column) or {}).get("from_cells", row.cells[column]) for column in halves}
        total = sum(rounded[column] * count for column, count in halves.items()) / sum(halves.values())
        assert round(total, 1) == row.cells["total_avg"], row.name


def test_table_4_is_weighted_by_cases() -> None:
    found = table("4")
    for category in ("specific", "general"):
        rows = {row.name: row.cells for row in found.rows if row.group == category}
        for aspect in found.columns:
            cells = {f"{category}_{level}": rows[level][aspect] for level in ("easy", "medium", "hard")}
            assert rows["whole"][aspect] == round(averages(cells)[category], 2), (category, aspect)


def test_table_7_is_a_plain_mean_of_the_cells() -> None:
    """Its names are shorter than those of Table 3. Within rounding in seven of eight rows; by case weights in one."""
    persona = {row.name: row.cells["persona"] for row in table("7").rows}
    plain, by_cases = 0, 0
    for name, printed in persona.items():
        (row,) = [row for row in table("3").rows if row.name == name or row.name.startswith(f"{name}-20")]
        found = averages(row.cells)
        plain += abs(found[MACRO] - printed) <= 0.1 + 1e-9
        by_cases += abs(found["total"] - printed) <= 0.1 + 1e-9
    assert (plain, by_cases) == (7, 1)


def test_recomputed_averages_are_those_of_the_verification() -> None:
    for entry in tables.document("verification")["tables_3_and_6"]:
        rows = [row for row in table(entry["table"]).rows if row.about.get("printed_as", row.name) == entry["row"]]
        matching = [row for row in rows if row.name == entry["model"]]
        assert len(matching) == 1, entry["row"]
        found = averages(matching[0].cells)
        for column, group in AVERAGES.items():
            assert found[group] == pytest.approx(entry["averages"][column]["case_weighted"], abs=6e-4)
            assert matching[0].cells[column] == entry["averages"][column]["printed"]


def test_table_2_is_what_the_loader_requires() -> None:
    (row,) = table("2").rows
    assert row.cells == {**COUNTS, "total": sum(COUNTS.values())}
