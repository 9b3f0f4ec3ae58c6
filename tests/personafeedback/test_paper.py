"""The tables of the paper: what is printed is what the file has, and its averages follow from its cells."""

from __future__ import annotations

import json
import re

import pytest
from support.commands import personafeedback

from personafeedback_tasks.personafeedback.cells import CELLS, PAPER_COUNTS
from personafeedback_tasks.personafeedback.paper import tables

COUNTS = {"_".join(cell): count for cell, count in PAPER_COUNTS.items()}
AVERAGES = {"specific_avg": "specific", "general_avg": "general", "total_avg": ""}
"""Column -> what the cells that it is the average of begin with."""
PLACES = {"cases": 0, "accuracy, per cent": 1, "accuracy, share": 2, "per cent": 2}


def paper(*arguments: str, **environment: str) -> str:
    done = personafeedback("paper", *arguments, **environment)
    assert done.exit_code == 0, done.output
    return done.stdout


def weighted(cells: dict[str, float], beginning: str = "") -> float:
    """The mean of some cells, weighted by their number of cases (Table 2)."""
    members = [cell for cell in CELLS if cell.startswith(beginning)]
    return sum(cells[cell] * COUNTS[cell] for cell in members) / sum(COUNTS[cell] for cell in members)


# --- the numbers ------------------------------------------------------------------------------------------------------


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


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["2", "3", "4", "5", "6", "7", "8"])
def test_every_number_of_a_table_is_printed_in_its_row(number):
    of = tables()[number]
    lines = [line.split() for line in paper("--table", number).splitlines()]
    for row in of["rows"]:
        cells = [row["cells"][key] for key in of["columns"]]
        values = cells if number == "8" else [f"{value:,.{PLACES[of['unit']]}f}" for value in cells]
        # Rows come in the order of the data: each is looked for below the one before it.
        expected = [*row["name"].split(), *values]
        found = next((at for at, line in enumerate(lines) if line[: len(expected)] == expected), None)
        assert found is not None, row
        lines = lines[found + 1 :]


def test_without_options_the_tables_of_results_are_printed():
    headings = re.findall(r"^Table (\d) \((.*?)\): ", paper(), re.M)
    assert headings == [(number, tables()[number]["section"]) for number in ("2", "3", "4", "6", "7")]
    assert "we found neither the authors' prompt nor" in paper().splitlines()[0]


def test_json_has_every_table_or_the_one_that_was_asked_for(tmp_path):
    assert json.loads(paper("--json", "-"))["tables"] == tables()
    file = tmp_path / "new" / "table.json"
    assert "Table 3 (" in paper("--table", "3", "--json", str(file))
    assert list(json.loads(file.read_text(encoding="utf-8"))["tables"]) == ["3"]
