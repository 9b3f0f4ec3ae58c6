"""Tests over users: p values, what several tests share, and which differences a test shows or excludes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .estimates import Estimate, critical, shows_spread, t_quantile

POWER = 0.8
"""Share of benchmarks in which a true difference of the smallest detectable size is significant."""


@dataclass(frozen=True)
class Comparison:
    """How two runs are compared, and what is assumed of them before there are any results."""

    name: str
    variance: float  # of a case's value: of the paired difference, or of one run's accuracy
    correlation: float  # between two cases of a user, which makes n cases worth n / `design_effect`
    paired: bool = True  # both runs have the same cases; if not, each has as many of its own, and two errors add up

    def design_effect(self, sizes: Sequence[int]) -> float:
        """How much larger a mean's variance is than with as many users as cases (Kish 1965); `sizes`: cases a user."""
        return 1 + self.correlation * (sum(size * size for size in sizes) / sum(sizes) - 1)

    def smallest(self, sizes: Sequence[int]) -> float:
        """The smallest difference that is significant with probability POWER; nan if above 1, or with one user."""
        runs = 1 if self.paired else 2
        stderr = math.sqrt(runs * self.variance * self.design_effect(sizes) / sum(sizes))
        return detectable(stderr, runs * (len(sizes) - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """p values corrected so that any false one is significant at a level with at most that probability (Holm 1979)."""
    # In the order given; nan is no test, and stays. scipy has no such correction, and importing statsmodels takes
    # longer than a report.
    order = sorted((i for i, p in enumerate(p_values) if not math.isnan(p)), key=lambda index: p_values[index])
    found, highest = [math.nan] * len(p_values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - place) * p_values[index]))
        found[index] = highest
    return found


def minimum_detectable_difference(found: Estimate) -> float:
    """The true difference that such data show with probability POWER at the 5 % level; nan if above 1, or without spread."""
    # (t(0.975, users - 1) + t(0.8, users - 1)) * stderr, in the unit of the differences: how much "no difference was
    # found" leaves open. `Comparison` says the same before a run. It depends on their spread, not on their mean.
    return detectable(found.stderr if shows_spread(found.stderr) else math.nan, found.users - 1)


def detectable(stderr: float, degrees: float) -> float:
    """The true difference of shares that this standard error shows with probability POWER at 5 %; nan if above 1."""
    smallest = (critical(degrees) + t_quantile(POWER, degrees)) * stderr
    return smallest if smallest <= 1 else math.nan
