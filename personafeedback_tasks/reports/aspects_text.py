"""The outputs of a reward model in a report: the accuracy of each, and its correlation with the better response."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..analysis.report import Report
from ..engine.rewards import TOTAL
from .blocks import Block, paragraph
from .table import NOTHING, Column, Table, percent, signed, spaced, with_interval

Pairs = Sequence[tuple[str, str]]
"""(name of a group, name of an aspect)."""


def aspect_blocks(report: Report) -> list[Block]:
    """The tables, and what their numbers are.

    Rows are cells, as everywhere, unless there are more aspects than cells: then the other way round.
    """
    aspects = report.aspects
    if aspects is None:
        return []
    groups = [group.name for group in report.groups]
    paper = aspects.published

    def accuracy(pairs: Pairs, heading: str) -> list[Column]:
        columns = with_interval(heading, [aspects.groups[group].acc[name] for group, name in pairs])
        printed = [paper.acc.get(group, {}).get(name, math.nan) if paper else math.nan for group, name in pairs]
        if paper is not None and not all(map(math.isnan, printed)):
            columns.append(Column(paper.label, tuple(map(percent, printed)), joined=True))
        return columns

    def correlation(pairs: Pairs, heading: str) -> list[Column]:
        return [Column(heading, tuple(signed(aspects.groups[group].pearson[name]) for group, name in pairs))]

    def table(heading: str, names: Sequence[str], columns: Callable[[Pairs, str], list[Column]], unit: str) -> Table:
        if len(names) > len(groups):
            labels, parts = (
                tuple(names),
                [columns([(group, name) for name in names], spaced(group)) for group in groups],
            )
        else:
            labels, parts = (
                tuple(map(spaced, groups)),
                [columns([(group, name) for group in groups], name) for name in names],
            )
        return Table(heading, labels, tuple(column for part in parts for column in part), unit, undefined=True)

    note = (
        "A tie counts as wrong. Correlations are Pearson's over both responses of every case "
        f"({aspects.groups[report.overall.name].responses:,} in all; one that is in several cases counts in each), with epochs averaged; "
        f"{NOTHING} is undefined."
    )
    return [
        table("Accuracy of each aspect", aspects.names, accuracy, "%"),
        table(f"Correlation with {aspects.better}", (TOTAL, *aspects.names), correlation, ""),
        paragraph(note),
        *([paragraph(paper.source)] if paper else []),
    ]
