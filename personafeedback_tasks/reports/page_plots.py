"""The pictures of a page's ranking, as places along an axis in percent: accuracies, and gains of the persona."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..analysis.balance import COST, GAIN, SWAP, costs_among
from ..analysis.contender import Contender
from ..analysis.documents import Balance
from ..analysis.measures import SCORE, over
from ..analysis.ranking import Ranking
from ..analysis.void import is_void
from ..stats.estimates import Estimate, mean
from .table import interval, percent

TICKS = 7
"""Most ticks of an axis."""


@dataclass(frozen=True)
class Axis:
    """Percent, along a picture of any width."""

    low: float
    high: float
    step: float

    @classmethod
    def over(cls, values: Iterable[float], ends: tuple[float, float] = (0.0, 100.0)) -> Axis:
        """An axis with all of these shares on it, never beyond `ends`."""
        percents = [100 * value for value in values if not math.isnan(value)] or list(ends)
        for step in (1.0, 2.0, 5.0, 10.0, 20.0, 50.0):
            low, high = step * math.floor(min(percents) / step), step * math.ceil(max(percents) / step)
            if (high - low) / step < TICKS:
                break
        low, high = (low, high) if low < high else (low - step, high + step)
        return cls(max(ends[0], low), min(ends[1], high), step)

    def at(self, value: float) -> str:
        """Where a share is, as SVG writes it; a margin keeps the ends in the picture."""
        return f"{3 + 94 * (100 * value - self.low) / (self.high - self.low):.2f}%"

    @property
    def ticks(self) -> list[tuple[str, str]]:
        """(place, text)."""
        count = round((self.high - self.low) / self.step)
        values = [self.low + number * self.step for number in range(count + 1)]
        return [(self.at(value / 100), f"{value:g}") for value in values]

    def bar(self, value: Estimate) -> dict[str, Any] | None:
        """Where an estimate and the ends of its interval are; None if it is undefined."""
        if math.isnan(value.value):
            return None
        ends = None if math.isnan(value.low) else (self.at(value.low), self.at(value.high))
        return {"at": self.at(value.value), "ends": ends}


def forest(ranking: Ranking) -> dict[str, Any]:
    """Every run's score with its interval, before what needs no model."""
    spec, first = ranking.runs[0].benchmark.report, ranking.entry.runs[0].measures
    scores = [one for one in ranking.entry.values(SCORE) if one]  # every run has one
    lines = [] if spec.chance is None else [("Chance", spec.chance)]
    lines += [
        (label, scores[0].value - margin.value)
        for name, label in spec.drawn.items()
        if (margin := first.get(over(name)))
    ]
    ends = [value for score in scores for value in (score.value, score.low, score.high)]
    axis = Axis.over([*ends, *(value for _, value in lines)])
    return {
        "ticks": axis.ticks,
        "lines": [(label, axis.at(value), percent(value)) for label, value in lines],
        "rows": [(axis.bar(score), percent(score.value), interval(score)) for score in scores],
    }


def planes(found: Sequence[Balance]) -> list[dict[str, Any]]:
    """For each cost, every model's gain along one axis and that cost along the other.

    The gain is the persona gain or, where no model has that, how far the swap score is above chance.
    """
    gain = GAIN if any(GAIN in one.values for one in found) else SWAP
    costs = dict.fromkeys(name for one in found for name in costs_among(one.values))
    made = ((cost, _plane([one for one in found if {gain, cost} <= one.values.keys()], gain, cost)) for cost in costs)
    return [{"cost": "" if cost == COST else cost, **of} for cost, of in made if of["rows"]]


def _plane(found: Sequence[Balance], name: str, of_cost: str) -> dict[str, Any]:
    points = [(one.model, _shifted(one.values[name], name), one.values[of_cost]) for one in found]
    ends = (-100.0, 100.0)
    across = Axis.over([end for _, gain, _ in points for end in (0.0, gain.value, gain.low, gain.high)], ends)
    up = Axis.over([end for _, _, cost in points for end in (0.0, cost.value, cost.low, cost.high)], ends)
    rows = []
    for model, gain, cost in points:
        bar, column = across.bar(gain), up.bar(cost)
        rows.append((model, bar, column, f"{percent(gain.value, sign=True)} / {percent(cost.value)}"))
    of = found[0].titles[name] if found else ""
    return {"across": across.ticks, "up": up.ticks, "zero": across.at(0.0), "rows": rows, "of": of}


def _shifted(value: Estimate, name: str) -> Estimate:
    by = 0.5 if name == SWAP else 0.0
    return replace(value, value=value.value - by, low=value.low - by, high=value.high - by)


def dumbbell(ranking: Ranking) -> dict[str, Any] | None:
    """Every run's score by the person in its prompt; None where no run has a control.

    Each point is over the cases that the run and this control answered, so that the points of a run are about the same
    cases.
    """
    spec = ranking.runs[0].benchmark.report.control
    if not any(one.controls.keys() & spec.people.keys() for one in ranking.contenders):
        return None
    asked = {value for one in ranking.contenders for value in (one.run.setting, *one.controls)}
    people = {value: who for value, who in spec.people.items() if value in asked}
    points = [_points(one, people) for one in ranking.contenders]
    axis = Axis.over([value for of_row in points for _, value in of_row])
    rows = []
    for of_row in points:
        known = [value for _, value in of_row if not math.isnan(value)]
        rows.append(
            {
                "link": (axis.at(min(known)), axis.at(max(known))) if known else None,
                "points": [(who, "" if math.isnan(value) else axis.at(value), percent(value)) for who, value in of_row],
            }
        )
    measure = ranking.runs[0].benchmark.report.score
    return {"ticks": axis.ticks, "measure": measure, "people": list(people.values()), "rows": rows}


def _points(one: Contender, people: Mapping[str, str]) -> list[tuple[str, float]]:
    # (person in the prompt, mean of the measure of the control's gain); nan where that was not asked, or is void
    asked = {} if is_void(one.run) else {one.run.setting: one.run, **one.controls}
    runs = {value: run for value, run in asked.items() if value in people and not is_void(run)}
    ids = set.intersection(*(set(run.cases) for run in runs.values())) if runs else set()
    measure = one.run.benchmark.primary(one.run.method)
    return [
        (who, mean(runs[value].cases[case_id].value(measure) for case_id in ids) if value in runs else math.nan)
        for value, who in people.items()
    ]
