"""A funnel in words: one table of all models and their parts, what its columns are, and the tables beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from ..common.statistics import Estimate, percent
from ..engine.funnel import PERCENT, POINTS, RATIO, SIGNED, Funnel, FunnelSheet, FunnelTable
from .blocks import Block, bullets, paragraph, signatures
from .table import NOTHING, Column, Table, points, ratio, signed, with_ends, with_interval

FORMATS: Mapping[str, Callable[[float], str]] = {
    PERCENT: percent,
    POINTS: points,
    SIGNED: partial(signed, digits=2),
    RATIO: partial(ratio, digits=2),
}
"""Unit -> how a number is written."""


def blocks(sheet: FunnelSheet, of_runs: Mapping[str, str]) -> list[Block]:
    """
    Args:
        of_runs: a run -> its signature.
    """
    rows = [row for of in sheet.funnels for row in _rows(of, sheet.named)]
    found = [step for step in sheet.steps if any(step.name in shares for _, shares in rows)]
    columns = [
        column
        for step in found
        for column in with_interval(step.label, [shares.get(step.name) for _, shares in rows], strong=False)
    ]
    return [
        *(bullets(list(of.notes), f"{of.model}:") for of in sheet.funnels),
        Table("", tuple(label for label, _ in rows), tuple(columns), whole=True),
        bullets([*(f"{step.label}: {step.meaning}." for step in found), sheet.about]),
        *(block for table in sheet.tables for block in (_table(table), paragraph(table.note), paragraph())),
        signatures(of_runs),
    ]


def _rows(funnel: Funnel, named: Callable[[str, str], str]) -> Iterator[tuple[str, Mapping[str, Estimate]]]:
    """(the model or a part, step -> its share there); the model first."""
    yield funnel.model, funnel.steps
    for split, parts in funnel.parts.items():
        for part, steps in parts.items():
            yield f"  {named(split, part)}", steps


def _table(table: FunnelTable) -> Table:
    columns = tuple(
        Column(title, tuple(_cell(*cells[place]) for _, cells in table.rows))
        for place, title in enumerate(table.columns)
    )
    return Table(table.heading, tuple(label for label, _ in table.rows), columns, corner=table.corner, whole=True)


def _cell(of: Estimate | None, unit: str) -> str:
    return NOTHING if of is None else with_ends(of, FORMATS[unit])
