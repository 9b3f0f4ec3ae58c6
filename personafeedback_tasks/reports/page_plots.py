"""The pictures of a page's ranking, as places along an axis in percent: scores, and gains beside costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..analysis.balance import COST, GAIN, SWAP, costs_among
from ..analysis.documents import SCORE, Balance, RankingEntry
from ..analysis.measures import over
from ..analysis.persona_use import PersonaUse
from ..analysis.ranking import Ranking
from ..stats.estimates import Estimate
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
    """Every run's score with its interval, before what needs no model, and beside it its score under each control.

    A control is as far from the run's score as their difference, which is paired on the cases that both answered.
    """
    spec, runs = ranking.runs[0].benchmark.report, ranking.entry.runs
    people = spec.control.people
    scores = [one for one in ranking.entry.values(SCORE) if one]  # every run has one
    lines = [] if spec.chance is None else [("Chance", spec.chance)]
    for name, label in spec.drawn.items():
        if margin := runs[0].measures.get(over(name)):
            lines.append((label, scores[0].value - margin.value))
    marks = []
    for run, score in zip(runs, scores, strict=True):
        gaps = {value: run.measures.get(key) for key, value in run.control_of.items()}
        known = {who: score.value - gap.value for value, who in people.items() if (gap := gaps.get(value))}
        marks.append({who: value for who, value in known.items() if not math.isnan(value)})
    ends = [value for score in scores for value in (score.value, score.low, score.high)]
    ends += [value for of_run in marks for value in of_run.values()]
    axis = Axis.over([*ends, *(value for _, value in lines)])
    asked = [who for who in people.values() if any(who in of_run for of_run in marks)]
    rows = []
    for score, of_run in zip(scores, marks, strict=True):
        # one for each head, empty where this run has none
        others = [
            (who, axis.at(of_run[who]), percent(of_run[who])) if who in of_run else (who, "", "") for who in asked
        ]
        rows.append({"bar": axis.bar(score), "value": percent(score.value), "ends": interval(score), "others": others})
    return {
        "ticks": axis.ticks,
        "lines": [(label, axis.at(value), percent(value)) for label, value in lines],
        "people": asked,
        "rows": rows,
    }


def bars(ranking: RankingEntry, key: str) -> dict[str, Any]:
    """A measure of every run along one axis with 0 on it, and whether the run uses who the user is."""
    values = ranking.values(key)
    there = [value for value in values if value is not None]
    axis = Axis.over([0.0, *(end for value in there for end in (value.value, value.low, value.high))], (-100.0, 100.0))
    signs = ["yes" if run.use == PersonaUse.USES.value else "no" for run in ranking.runs]
    return {
        "zero": axis.at(0),
        "bars": [value and axis.bar(value) for value in values],
        "signs": ["" if value is None else sign for value, sign in zip(values, signs, strict=True)],
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
