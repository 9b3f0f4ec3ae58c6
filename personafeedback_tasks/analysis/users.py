"""How far the users' own accuracies differ.

Users have few cases, and not the same cells. So every value is taken against the mean of its cell, and results are at
the run's own mix of cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..stats.clusters import degrees_of_freedom
from ..stats.estimates import ALPHA, mean

FEW_USERS = 20
"""Below this number of users a report warns of its intervals."""


@dataclass(frozen=True)
class Users:
    """The users of a run.

    Attributes:
        count: users with a score.
        spread: standard deviation of the users' true accuracies beyond chance and cells.
        low: lower end of its 95 % interval.
        high: its upper end.
    """

    count: int
    spread: float
    low: float
    high: float


def make_users(values: Sequence[float], users: Sequence[str], cells: Sequence[str]) -> Users | None:
    """The users of some cases (values in [0, 1] or nan); None where fewer than FEW_USERS have one, or none has two."""
    in_cell: dict[str, list[float]] = {}
    for value, cell in zip(values, cells, strict=True):
        in_cell.setdefault(cell, []).append(value)
    of_cell, middle = {cell: mean(found) for cell, found in in_cell.items()}, mean(values)
    of_user: dict[str, list[float]] = {}
    for user, value, cell in sorted(zip(users, values, cells, strict=True), key=lambda row: row[0]):
        if not math.isnan(value):
            of_user.setdefault(user, []).append(value - of_cell[cell] + middle)
    if len(of_user) < FEW_USERS or all(len(own) == 1 for own in of_user.values()):
        return None
    return Users(len(of_user), *true_spread(of_user))


def true_spread(of_user: Mapping[str, Sequence[float]]) -> tuple[float, float, float]:
    """(standard deviation of the users' true accuracies, the ends of its 95 % interval), with chance taken out.

    With s the pooled variance of the values within users, the mean m_i of n_i values has the variance v + s / n_i
    around the center m, which weighs each user by its inverse.

    v by the method of moments: Q(v) = sum (m_i - m)^2 / (v + s / n_i) must be what it is expected to be, users - 1
    (Paule, Mandel 1982). Its interval is where Q is within the middle 95 % of chi square (Viechtbauer 2007), with the
    degrees of freedom that the kurtosis of the users' deviations leaves: a few users far below all others have most of
    Q.

    Args:
        of_user: user -> its values, at least one, and two somewhere.
    """
    import numpy as np
    from scipy.special import chdtri

    sizes = np.array([len(values) for values in of_user.values()])
    means = np.array([mean(values) for values in of_user.values()])
    within = math.fsum((value - m) ** 2 for values, m in zip(of_user.values(), means, strict=True) for value in values)
    noise = np.maximum(within / (sizes.sum() - len(sizes)) / sizes, SMALLEST)
    users, tail = len(sizes), ALPHA / 2
    variance = _variance(means, noise, users - 1)
    deviations = ((means - _center(means, variance + noise)) / np.sqrt(variance + noise)).tolist()
    degrees = degrees_of_freedom(deviations)
    low, high = (_variance(means, noise, chdtri(degrees, above) / degrees * (users - 1)) for above in (tail, 1 - tail))
    return math.sqrt(variance), math.sqrt(low), math.sqrt(high)


SMALLEST = 1e-12
"""Variance of a mean without any part of chance, where each user is all right or all wrong."""

LARGEST = 0.25
"""Variance of shares of which one half is 0 and the other 1."""


def _variance(means: Any, noise: Any, expected: float) -> float:
    # the variance at which Q is `expected`: at most LARGEST, and 0 where Q is too small for any
    def excess(variance: float) -> float:
        center = _center(means, variance + noise)
        return float(((means - center) ** 2 / (variance + noise)).sum() - expected)

    if excess(0) <= 0:
        return 0.0
    if excess(LARGEST) >= 0:
        return LARGEST
    # bisection, since Q falls with the variance: to import scipy.optimize takes longer than to read a log
    low, high = 0.0, LARGEST
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high


def _center(means: Any, variances: Any) -> float:
    weights = 1 / variances
    return float((weights * means).sum() / weights.sum())
