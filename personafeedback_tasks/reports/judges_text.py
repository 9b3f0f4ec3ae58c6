"""The run beside baselines that answer and beside people, in a report."""

from __future__ import annotations

from ..analysis.beside import Beside
from ..analysis.report import Report
from ..common.statistics import Estimate
from .blocks import Block, Notes
from .table import Column, Table, measured, signed

PEOPLE = "people among themselves"


def judges_blocks(report: Report) -> list[Block]:
    """The table, and what its rows are."""
    beside = report.judges
    if beside is None:
        return []
    return [*_tables(report, beside), Notes(_notes(beside))]


def _tables(report: Report, beside: Beside) -> list[Table]:
    """The run, the baselines, and people, one below the other."""
    if not beside.baselines:
        return []
    rows = {
        "this run": report.overall.measures,
        **beside.baselines,
        **({PEOPLE: beside.people} if beside.people else {}),
    }
    columns: list[Column] = []
    for shown in report.run.benchmark.report.compared:
        columns += measured(shown, [measures[shown.measure] for measures in rows.values()])
    return [Table("Beside baselines and people", tuple(rows), tuple(columns))]


def _notes(beside: Beside) -> list[str]:
    """What the rows of the table are."""
    found = beside.agreement
    if found is None:
        return list(beside.notes)
    if not found.coefficients:
        return [*beside.notes, found.note]
    values = "; ".join(f"{name} {_with_interval(value)}" for name, value in found.coefficients.items())
    against = f" {PEOPLE}: each person against what most of the others say." if beside.people else ""
    return [*beside.notes, f"People's agreement ({found.note}): {values}.{against}"]


def _with_interval(one: Estimate) -> str:
    return f"{signed(one.value)} ({signed(one.low)} to {signed(one.high)})"
