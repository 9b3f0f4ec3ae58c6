"""The effect of a trained filter in the chain: over-selection with and without it, on the same rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..common.clusters import Shared
from ..common.statistics import Estimate, estimate
from ..core.earlier import Earlier
from .filter.folder import Filter
from .funnel import judged_attributes
from .select import selected
from .study import Judgments

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
    """How a filter changes a run.

    Attributes:
        measures: of MEASURES -> (without the filter, with it, with minus without: paired by row); empty without rows.
        rows: number of rows.
        left_out: rows of users that the filter was trained on, without a held-out prediction: they would flatter it.
    """

    measures: Mapping[str, tuple[Estimate, Estimate, Estimate]]
    rows: int
    left_out: int

    @property
    def note(self) -> str:
        """Which rows are compared, in sentences."""
        if not self.rows:
            return f"What the filter changes is unknown: all {self.left_out:,} judged rows are left out, since it was trained on their users."
        note = f"{self.rows:,} judged rows, each answered by a model that had not seen its user."
        if self.left_out:
            note += f" {self.left_out:,} more are left out: the filter was trained on their users."
        return note


def effect_of(judge: Filter, run: Earlier, people: Judgments) -> FilterEffect | None:
    """How a filter changes a run of `recenter_select`; None where people judged nothing that the model was shown."""
    rows: list[_Row] = []
    left_out = 0
    for one, row, is_there in judged_attributes(selected(run), people):
        if judge.unbiased(row):
            rows.append(
                _Row(one.user_id, one.prompt_id, bool(row.judgment), is_there, is_there and not judge.drops(row))
            )
        else:
            left_out += 1
    if not rows:
        return FilterEffect({}, 0, left_out) if left_out else None
    measures = {
        name: _paired(rows, measure, math.inf if name == OVER_SELECTION else 1.0)
        for name, (_, measure) in MEASURES.items()
    }
    return FilterEffect(measures, len(rows), left_out)


class _Row(NamedTuple):
    user: str
    prompt: str
    relevant: bool
    selected: bool
    kept: bool


def _paired(rows: Sequence[_Row], measure: Measure, most: float) -> tuple[Estimate, Estimate, Estimate]:
    users, prompts = [row.user for row in rows], Shared([row.prompt for row in rows])
    without = _linear([measure(row.relevant, row.selected) for row in rows])
    with_it = _linear([measure(row.relevant, row.kept) for row in rows])
    changes = [after - before for before, after in zip(without, with_it, strict=True)]
    first, second, change = (estimate(values, users, also=prompts) for values in (without, with_it, changes))
    return _within(first, 0.0, most), _within(second, 0.0, most), _within(change, -most, most)


def _linear(sums: Sequence[tuple[float, float]]) -> list[float]:
    # the mean is the ratio of both sums, and the spread that of the linearized ratio; nan without a denominator
    part, whole = (math.fsum(float(side) for side in sides) for sides in zip(*sums, strict=True))
    if not whole:
        return [math.nan] * len(sums)
    ratio = part / whole
    return [ratio + (of - ratio * base) * len(sums) / whole for of, base in sums]


def _within(of: Estimate, least: float, most: float) -> Estimate:
    # cut to possible values
    return of if math.isnan(of.low) else replace(of, low=max(least, of.low), high=min(most, of.high))
