"""Tests over users: p values, what several tests share, and which differences a test shows or excludes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .statistics import LEVEL, Estimate, critical, estimate, shows_spread, t_quantile


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values of several tests, corrected so that any false one is significant at a level with at most that probability.

    Holm (1979), in the order given; nan is no test, and stays. scipy has no such correction, and importing statsmodels takes longer than a report.
    """
    order = sorted((i for i, p in enumerate(p_values) if not math.isnan(p)), key=lambda index: p_values[index])
    found, highest = [math.nan] * len(p_values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - place) * p_values[index]))
        found[index] = highest
    return found


def minimum_detectable_difference(differences: Sequence[float], users: Sequence[str], power: float = 0.8) -> float:
    """The true difference that such data show with probability `power`, tested at the 5 % level.

    (t(0.975, users - 1) + t(power, users - 1)) * stderr, in the unit of the differences: how much "no difference was
    found" leaves open. `power.Comparison` says the same before a run. It depends on their spread, not on their mean; nan with fewer than two users, or without spread.

    Args:
        differences: one paired difference per case; nan is left out.
        power: in (0.5, 1).
    """
    found = estimate(differences, users)
    return detectable(found.stderr if shows_spread(found.stderr) else math.nan, found.users - 1, power)


def detectable(stderr: float, degrees: float, power: float = 0.8, tests: int = 1) -> float:
    """The true difference that an estimate with this standard error shows with probability `power`, tested at the 5 % level.

    Args:
        degrees: of freedom of the standard error; nan with fewer than one.
        power: in [0.5, 1).
        tests: number of tests that share the level, each with an equal part of it.
    """
    return (critical(degrees, tests) + t_quantile(power, degrees)) * stderr


def equivalence_bound(found: Estimate) -> float:
    """The smallest b for which two one-sided tests at 5 % say that the true value lies between -b and b (Schuirmann 1987).

    Where all values are 0 there is no error to test with: then the end of their interval. nan where the standard error is unknown.
    """
    if not shows_spread(found.stderr):
        return found.high
    return abs(found.value) + t_quantile(LEVEL, found.users - 1) * found.stderr


def two_sided_p(t: float, degrees: float) -> float:
    """How often Student's t is at least as far from 0."""
    from scipy.special import stdtr

    return 2 * float(stdtr(degrees, -abs(t)))
