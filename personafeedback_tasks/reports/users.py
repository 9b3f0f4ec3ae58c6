"""For whom does it fail? How far the users' own accuracies differ, and whether those who share an attribute do better or worse.

Nobody is named. Users have few cases, and not the same cells: some have easy ones only. So every value is taken against the
mean of its cell, and what is said of a user is at the run's own mix of cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..common.statistics import LEVEL, critical, degrees_of_freedom, holm, mean, two_sided_p
from .caveats import FEW_USERS

SHARED_BY = 20
"""Users who must share an attribute, and who must not, for it to be tested."""


@dataclass(frozen=True)
class Slice:
    """The users who share an attribute, beside all others.

    Attributes:
        attribute, value: `gender`, `women`.
        users: how many share it.
        difference: their accuracy minus that of the others, at equal cells.
        low, high: its 95 % interval, for this slice alone.
        p: two-sided, of "no difference", corrected by Holm's method over all tested slices.
    """

    attribute: str
    value: str
    users: int
    difference: float
    low: float
    high: float
    p: float

    @property
    def significant(self) -> bool:
        return self.p < 1 - LEVEL


@dataclass(frozen=True)
class Users:
    """The users of a run.

    Attributes:
        count: how many.
        worst_tenth: mean accuracy of the tenth with the lowest ones, shrunken.
        quantiles: 10, 50, 90 (percent of the users) -> the accuracy that these do not exceed, shrunken.
        raw: the same of the accuracies as they are: spread out by chance and by the cells.
        spread, low, high: standard deviation of the users' true accuracies beyond chance and cells, with its 95 % interval.
        slices: every tested one, the smallest p first.
    """

    count: int
    worst_tenth: float
    quantiles: Mapping[str, float]
    raw: Mapping[str, float]
    spread: float
    low: float
    high: float
    slices: tuple[Slice, ...]


def make_users(
    values: Sequence[float], users: Sequence[str], cells: Sequence[str], people: Mapping[str, Mapping[str, str]]
) -> Users | None:
    """The users of some cases; None where fewer than FEW_USERS have one, or none has two.

    Args:
        values: one per case, in [0, 1]; nan is left out.
        users, cells: of each case.
        people: user -> attribute -> value.
    """
    raw = _of_user(values, users)
    if len(raw) < FEW_USERS or all(len(found) == 1 for found in raw.values()):
        return None
    found = shrink(_of_user(at_equal_cells(values, cells), users))
    lowest = sorted(found.shrunken)[: math.ceil(len(raw) / 10)]
    return Users(
        count=len(raw),
        worst_tenth=mean(lowest),
        quantiles=_quantiles(found.shrunken),
        raw=_quantiles([mean(own) for own in raw.values()]),
        spread=math.sqrt(found.variance),
        low=math.sqrt(found.low),
        high=math.sqrt(found.high),
        slices=slices(found, people),
    )


def at_equal_cells(values: Sequence[float], cells: Sequence[str]) -> list[float]:
    """Each value minus the mean of its cell plus the mean of all."""
    in_cell: dict[str, list[float]] = {}
    for value, cell in zip(values, cells, strict=True):
        in_cell.setdefault(cell, []).append(value)
    means, middle = {cell: mean(found) for cell, found in in_cell.items()}, mean(values)
    return [value - means[cell] + middle for value, cell in zip(values, cells, strict=True)]


@dataclass(frozen=True)
class Shrunken:
    """What `shrink` finds.

    Attributes:
        means: user -> mean of its values.
        noise: the variance that chance gives each of these means.
        shrunken: each user's accuracy, shrunken.
        variance, low, high: of the users' true accuracies, with its 95 % interval.
    """

    means: Mapping[str, float]
    noise: Sequence[float]
    shrunken: Sequence[float]
    variance: float
    low: float
    high: float


def shrink(of_user: Mapping[str, Sequence[float]]) -> Shrunken:
    """The users' accuracies, each moved towards the mean of all by as much as chance may have moved it away.

    A user's true accuracy is drawn from a beta distribution with variance v, and s is the pooled variance of the values
    within users. The mean m_i of n_i values then has the variance v + s / n_i, and the posterior mean of the beta-binomial
    model is m + (m_i - m) v / (v + s / n_i): users with few cases come closer to the mean m of all. In its usual form the prior
    counts as s / v cases; a value that averages two orders spreads less than a coin, so that s takes the place of m (1 - m).

    v by the method of moments: Q(v) = sum (m_i - m)^2 / (v + s / n_i) must be what it is expected to be, users - 1 (Paule,
    Mandel 1982). Its interval is where Q is within the middle 95 % of chi square (Viechtbauer 2007), with the degrees of freedom
    that the kurtosis of the users' deviations leaves (see `share`): a few users far below all others have most of Q.

    Args:
        of_user: user -> its values, at least one, and two somewhere.
    """
    import numpy as np
    from scipy.optimize import brentq
    from scipy.special import chdtri

    sizes = np.array([len(found) for found in of_user.values()])
    means = np.array([mean(found) for found in of_user.values()])
    within = math.fsum((value - m) ** 2 for found, m in zip(of_user.values(), means, strict=True) for value in found)
    noise = np.maximum(within / (sizes.sum() - len(sizes)) / sizes, SMALLEST)

    def center(v: float) -> float:
        return float(np.average(means, weights=1 / (v + noise)))

    def excess(v: float, expected: float) -> float:
        return float(np.sum((means - center(v)) ** 2 / (v + noise))) - expected

    def variance(expected: float) -> float:
        """Where Q is this: at least 0, and at most the largest variance that shares have."""
        if excess(0.0, expected) <= 0:
            return 0.0
        return 0.25 if excess(0.25, expected) >= 0 else float(brentq(excess, 0.0, 0.25, args=(expected,)))

    users, tail = len(sizes), (1 - LEVEL) / 2
    v = variance(users - 1)
    residuals = (means - center(v)) / np.sqrt(v + noise)
    degrees = degrees_of_freedom(dict(zip(of_user, residuals.tolist(), strict=True)))
    low, high = (variance(chdtri(degrees, above) / degrees * (users - 1)) for above in (tail, 1 - tail))
    shrunken = np.clip(center(v) + (means - center(v)) * v / (v + noise), 0, 1)
    return Shrunken(dict(zip(of_user, means.tolist(), strict=True)), noise.tolist(), shrunken.tolist(), v, low, high)


SMALLEST = 1e-12
"""Variance of a mean that chance seems to have no part in, since each user is all right or all wrong."""


def slices(found: Shrunken, people: Mapping[str, Mapping[str, str]]) -> tuple[Slice, ...]:
    """Every slice that SHARED_BY users share and as many do not, the smallest p first. Of two values that part the users in the
    same way, such as two genders, the first is tested.

    Args:
        people: user -> attribute -> value; a user without an attribute is not among the others of its slices.
    """
    weights = {user: 1 / (found.variance + noise) for user, noise in zip(found.means, found.noise, strict=True)}
    tested: dict[frozenset[frozenset[str]], Slice] = {}
    for attribute, value in sorted({item for user in found.means for item in people.get(user, {}).items()}):
        having = [user for user in found.means if attribute in people.get(user, {})]
        inside = [user for user in having if people[user][attribute] == value]
        others = [user for user in having if people[user][attribute] != value]
        parted = frozenset((frozenset(inside), frozenset(others)))
        if min(len(inside), len(others)) >= SHARED_BY and parted not in tested:
            difference, stderr = _difference(found.means, weights, inside, others)
            degrees = len(having) - 2
            reach = critical(degrees) * stderr
            p = two_sided_p(difference / stderr, degrees) if stderr else float(difference == 0)
            new = Slice(attribute, value, len(inside), difference, difference - reach, difference + reach, p)
            tested[parted] = new
    return _corrected(sorted(tested.values(), key=lambda one: one.p))


def _difference(
    means: Mapping[str, float], weights: Mapping[str, float], inside: Sequence[str], others: Sequence[str]
) -> tuple[float, float]:
    """(mean of some users minus that of others, its standard error).

    Each user weighs by how well its mean is known, and the error comes from the weighted residuals of the users (Knapp,
    Hartung 2003). A cluster-robust one of the case-weighted difference names a slice in 6 to 7 % of reports where there is
    none, and misses more of those that there are.
    """
    centers, squares, inverse = [], 0.0, 0.0
    for some in (inside, others):
        total = math.fsum(weights[user] for user in some)
        center = math.fsum(weights[user] * means[user] for user in some) / total
        squares += math.fsum(weights[user] * (means[user] - center) ** 2 for user in some)
        centers.append(center)
        inverse += 1 / total
    return centers[0] - centers[1], math.sqrt(squares / (len(inside) + len(others) - 2) * inverse)


def _corrected(tested: Sequence[Slice]) -> tuple[Slice, ...]:
    """The slices, the smallest p first, with their p corrected so that a false one is named in at most 5 % of reports."""
    found = [replace(one, p=p) for one, p in zip(tested, holm([one.p for one in tested]), strict=True)]
    return tuple(sorted(found, key=lambda one: one.p))


def _of_user(values: Sequence[float], users: Sequence[str]) -> dict[str, list[float]]:
    """User -> its defined values, in the order of the user ids."""
    found: dict[str, list[float]] = {}
    for value, user in zip(values, users, strict=True):
        if not math.isnan(value):
            found.setdefault(user, []).append(value)
    return {user: found[user] for user in sorted(found)}


def _quantiles(values: Sequence[float]) -> dict[str, float]:
    import numpy as np

    return {str(percent): float(np.quantile(values, percent / 100)) for percent in (10, 50, 90)}
