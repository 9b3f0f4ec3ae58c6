"""The outputs of a reward model in a report: the accuracy of each, and its correlation with the better response."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..analysis.report import Report
from ..engine.rewards import TOTAL
from .blocks import Block, Paragraph
from .table import NOTHING, Column, Table, percent, signed, spaced, with_interval


def aspect_blocks(report: Report) -> list[Block]:
    """The tables, and what their numbers are."""
    aspects = report.aspects
    if aspects is None:
        return []
    count = aspects.groups[report.overall.name].responses
    note = (
        "A tie counts as wrong. Correlations are Pearson's over both responses of every case "
        f"({count:,} in all; one that is in several cases counts in each), with epochs averaged; {NOTHING} is undefined."
    )
    source = [Paragraph(aspects.published.source)] if aspects.published else []
    return [*aspect_tables(report), Paragraph(note), *source]


def aspect_tables(report: Report) -> list[Table]:
    """The outputs of a reward model: the accuracy of each, and its correlation with the better response.

    Rows are cells, as everywhere, unless there are more aspects than cells: then the other way round.
    """
    aspects = report.aspects
    if aspects is None:
        return []
    groups = [group.name for group in report.groups]
    paper = aspects.published

    def accuracy(pairs: Sequence[tuple[str, str]], heading: str) -> list[Column]:
        """The columns for some (group, aspect)."""
        assert aspects is not None
        found = with_interval(heading, [aspects.groups[group].acc[aspect] for group, aspect in pairs])
        if paper is None or not any(aspect in paper.acc.get(group, {}) for group, aspect in pairs):
            return found
        theirs = tuple(percent(paper.acc.get(group, {}).get(aspect, math.nan)) for group, aspect in pairs)
        return [*found, Column(paper.label, theirs, joined=True)]

    def correlation(pairs: Sequence[tuple[str, str]], heading: str) -> list[Column]:
        assert aspects is not None
        return [Column(heading, tuple(signed(aspects.groups[group].pearson[aspect]) for group, aspect in pairs))]

    def made(
        heading: str, names: Sequence[str], columns: Callable[[Sequence[tuple[str, str]], str], list[Column]], unit: str
    ) -> Table:
        found: list[Column] = []
        if len(names) > len(groups):
            for group in groups:
                found += columns([(group, name) for name in names], spaced(group))
            return Table(heading, tuple(names), tuple(found), unit, undefined=True)
        for name in names:
            found += columns([(group, name) for group in groups], name)
        return Table(heading, tuple(map(spaced, groups)), tuple(found), unit, undefined=True)

    return [
        made("Accuracy of each aspect", aspects.names, accuracy, "%"),
        made(f"Correlation with {aspects.better}", (TOTAL, *aspects.names), correlation, ""),
    ]
