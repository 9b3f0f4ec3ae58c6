"""A trained filter as a step of the chain: what over-selection comes to with and without it, on the same rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..common.statistics import Estimate, estimate
from .chains import MadeChain
from .filter.folder import Filter
from .funnel import things_of
from .judgments import Judgments, Thing
from .rows import Relevance

Measure = Callable[[bool, bool], tuple[float, float]]
"""(whether people find an attribute relevant, whether it is selected) -> what it adds to both sides of a ratio."""


OVER_SELECTION = "over_selection"
"""The one measure that is no share."""

MEASURES: Mapping[str, tuple[str, Measure]] = {
    OVER_SELECTION: ("selected, times as often as people", lambda good, there: (there, good)),
    "irrelevant": ("irrelevant of selected", lambda good, there: (there and not good, there)),
    "selected": ("selected of relevant", lambda good, there: (good and there, good)),
}
"""Measure -> (its name, the sums whose ratio it is)."""


@dataclass(frozen=True)
class FilterEffect:
    """
    Attributes:
        measures: of MEASURES -> (without the filter, with it, with minus without: paired, row by row); none without rows.
        rows: on how many rows.
        left_out: rows of users that the filter was trained on without a prediction of a model that has not seen them: they would flatter it.
    """

    measures: Mapping[str, tuple[Estimate, Estimate, Estimate]]
    rows: int
    left_out: int

    @property
    def note(self) -> str:
        """What rows it is about, in sentences."""
        if not self.rows:
            return f"What the filter changes is unknown: all {self.left_out:,} judged rows are left out, since it was trained on their users."
        note = f"{self.rows:,} judged rows, each answered by a model that had not seen its user."
        if self.left_out:
            note += f" {self.left_out:,} more are left out: the filter was trained on their users."
        return note


def effect_of(judge: Filter, made: MadeChain, people: Judgments) -> FilterEffect | None:
    """What a filter does to one model's chain; None where people judged nothing that the model selected from."""
    rows: list[tuple[Thing, bool]] = []
    left_out = 0
    for thing in things_of(made, people)[Relevance.stage]:
        row = people.rows.get(thing.about)
        if not isinstance(row, Relevance):
            continue
        if not judge.unbiased(row):
            left_out += 1
            continue
        rows.append((thing, thing.made and not judge.drops(row)))
    if not rows:
        return FilterEffect({}, 0, left_out) if left_out else None
    measures = {
        name: _paired(rows, measure, math.inf if name == OVER_SELECTION else 1.0)
        for name, (_, measure) in MEASURES.items()
    }
    return FilterEffect(measures, len(rows), left_out)


def _paired(rows: Sequence[tuple[Thing, bool]], measure: Measure, most: float) -> tuple[Estimate, Estimate, Estimate]:
    """(without the filter, with it, the difference), over users, and over prompts where users share them.

    Args:
        rows: each with whether the model selected it and the filter lets it through.
    """
    users, prompts = [row.user for row, _ in rows], [row.prompt for row, _ in rows]
    also = prompts if all(prompts) else None
    without = _linear([measure(bool(row.said), row.made) for row, _ in rows])
    with_it = _linear([measure(bool(row.said), kept) for row, kept in rows])
    changes = [after - before for before, after in zip(without, with_it, strict=True)]
    first, second, change = (estimate(values, users, also=also) for values in (without, with_it, changes))
    return _within(first, 0.0, most), _within(second, 0.0, most), _within(change, -most, most)


def _linear(sums: Sequence[tuple[float, float]]) -> list[float]:
    """Values whose mean is the ratio of both sums, and whose spread is that of the ratio (its linear terms); nan for a ratio of nothing."""
    part, whole = (math.fsum(float(side) for side in sides) for sides in zip(*sums, strict=True))
    if not whole:
        return [math.nan] * len(sums)
    ratio = part / whole
    return [ratio + (of - ratio * base) * len(sums) / whole for of, base in sums]


def _within(of: Estimate, least: float, most: float) -> Estimate:
    """The part of an interval that can be."""
    return of if math.isnan(of.low) else replace(of, low=max(least, of.low), high=min(most, of.high))
