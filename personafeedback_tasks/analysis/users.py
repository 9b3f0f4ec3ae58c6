"""For whom does it fail? How far the users' own accuracies differ, and whether those who share an attribute do better or worse.

Nobody is named. Users have few cases, and not the same cells: some have easy ones only. So every value is taken against the
mean of its cell, and what is said of a user is at the run's own mix of cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..common.significance import detectable, holm, two_sided_p
from ..common.statistics import LEVEL, Estimate, critical, degrees_of_freedom, mean

FEW_USERS = 20
"""Below this number of users a report warns of its intervals."""

SHARED_BY = 20
"""Users who must share an attribute, and who must not, for it to be tested."""

RESAMPLES = 500
"""Bootstrap samples of users behind the intervals of the quantiles."""
SEED = 20250615


@dataclass(frozen=True)
class Slice:
    """The users who share an attribute, beside all others.

    Attributes:
        attribute, value: `gender`, `women`.
        users: how many share it.
        difference: their accuracy minus that of the others, at equal cells.
        low, high: its 95 % interval, for this slice alone.
        p: two-sided, of "no difference", corrected by Holm's method over all tested slices.
        detectable: the true difference that this test shows with 80 % power, if it were the only one and had the strictest level of
            Holm's method.
    """

    attribute: str
    value: str
    users: int
    difference: float
    low: float
    high: float
    p: float
    detectable: float

    @property
    def significant(self) -> bool:
        return self.p < 1 - LEVEL


@dataclass(frozen=True)
class Users:
    """The users of a run.

    Attributes:
        count: how many.
        worst_tenth: mean true accuracy of the tenth of users with the lowest ones, by the fitted distribution.
        quantiles: 10, 50, 90 (percent of the users) -> the true accuracy that these do not exceed, by the fitted distribution.
        raw: the same of the accuracies as they are: spread out by chance and by the cells.
        spread, low, high: standard deviation of the users' true accuracies beyond chance and cells, with its 95 % interval.
        slices: every tested one, the smallest p first.
    """

    count: int
    worst_tenth: Estimate
    quantiles: Mapping[str, Estimate]
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
    found = fit(_of_user(at_equal_cells(values, cells), users))
    *quantiles, worst_tenth = _with_intervals(found)
    return Users(
        count=len(raw),
        worst_tenth=worst_tenth,
        quantiles=dict(zip(map(str, PERCENTS), quantiles, strict=True)),
        raw=dict(zip(map(str, PERCENTS), _raw_quantiles([mean(own) for own in raw.values()]), strict=True)),
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
class Fitted:
    """The distribution of the users' true accuracies.

    Attributes:
        means: user -> mean of its values.
        noise: the variance that chance gives each of these means.
        center: mean of the true accuracies.
        variance, low, high: of the true accuracies, with its 95 % interval.
    """

    means: Mapping[str, float]
    noise: Sequence[float]
    center: float
    variance: float
    low: float
    high: float


def fit(of_user: Mapping[str, Sequence[float]]) -> Fitted:
    """The mean and the variance of the users' true accuracies, with what chance adds to their means taken out.

    With s the pooled variance of the values within users, the mean m_i of n_i values has the variance v + s / n_i around the
    center m, which weighs each user by its inverse.

    v by the method of moments: Q(v) = sum (m_i - m)^2 / (v + s / n_i) must be what it is expected to be, users - 1 (Paule,
    Mandel 1982). Its interval is where Q is within the middle 95 % of chi square (Viechtbauer 2007), with the degrees of freedom
    that the kurtosis of the users' deviations leaves (see `share`): a few users far below all others have most of Q.

    Args:
        of_user: user -> its values, at least one, and two somewhere.
    """
    import numpy as np
    from scipy.special import chdtri

    sizes = np.array([len(found) for found in of_user.values()])
    means = np.array([mean(found) for found in of_user.values()])
    within = math.fsum((value - m) ** 2 for found, m in zip(of_user.values(), means, strict=True) for value in found)
    noise = np.maximum(within / (sizes.sum() - len(sizes)) / sizes, SMALLEST)
    users, tail = len(sizes), (1 - LEVEL) / 2

    def moments(expected: float) -> tuple[float, float]:
        center, variance = _moments(means[None], noise[None], expected)
        return float(center[0]), float(variance[0])

    center, v = moments(users - 1)
    degrees = degrees_of_freedom(dict(zip(of_user, ((means - center) / np.sqrt(v + noise)).tolist(), strict=True)))
    low, high = (moments(chdtri(degrees, above) / degrees * (users - 1))[1] for above in (tail, 1 - tail))
    return Fitted(dict(zip(of_user, means.tolist(), strict=True)), noise.tolist(), center, v, low, high)


def _moments(means: Any, noise: Any, expected: float) -> tuple[Any, Any]:
    """(center, variance) at which Q is `expected`, of several samples of users at once: arrays of samples x users.

    The variance is at least 0 and at most the largest one that shares have.
    """
    import numpy as np

    def center(v: Any) -> Any:
        weights = 1 / (v[:, None] + noise)
        return (weights * means).sum(axis=1) / weights.sum(axis=1)

    def excess(v: Any) -> Any:
        return ((means - center(v)[:, None]) ** 2 / (v[:, None] + noise)).sum(axis=1) - expected

    low, high = np.zeros(len(means)), np.full(len(means), 0.25)
    low = np.where(excess(high) >= 0, high, low)
    high = np.where(excess(np.zeros(len(means))) <= 0, 0.0, high)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = excess(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    variance = np.minimum((low + high) / 2, high)
    return center(variance), variance


BISECTIONS = 60
"""Halvings of [0, 0.25]: to the last digit of a float."""

PERCENTS = (10, 50, 90)


def _with_intervals(found: Fitted) -> list[Estimate]:
    """The quantiles at PERCENTS and the mean of the worst tenth, each with a 95 % bootstrap interval over users.

    The expanded percentile interval (Hesterberg 2015): as much wider than the plain one as t is beside the normal.
    """
    import numpy as np
    from scipy.special import ndtr

    values = _of_distribution(np.array([found.center]), np.array([found.variance]))[:, 0]
    means, noise = np.array(list(found.means.values())), np.array(found.noise)
    drawn = np.random.default_rng(SEED).integers(len(means), size=(RESAMPLES, len(means)))
    again = _of_distribution(*_moments(means[drawn], noise[drawn], len(means) - 1))
    users = len(means)
    tail = ndtr(-math.sqrt(users / (users - 1)) * critical(users - 1))
    ends = np.quantile(again, (tail, 1 - tail), axis=1)
    return [
        Estimate(value, stderr, low, high, len(means), len(means))
        for value, stderr, low, high in zip(
            *map(np.ndarray.tolist, (values, again.std(axis=1, ddof=1), *ends)), strict=True
        )
    ]


def _of_distribution(center: Any, variance: Any) -> Any:
    """Rows: the quantiles at PERCENTS, and the mean of the lowest tenth, of beta distributions with these moments."""
    import numpy as np
    from scipy.special import betainc, betaincinv

    inside = (variance > SMALLEST) & (center * (1 - center) > variance * (1 + SMALLEST))
    m, v = np.where(inside, center, 0.5), np.where(inside, variance, 0.01)
    cases = m * (1 - m) / v - 1  # that many cases the distribution counts as
    a, b = m * cases, (1 - m) * cases
    quantiles = [betaincinv(a, b, percent / 100) for percent in PERCENTS]
    worst = m * betainc(a + 1, b, quantiles[0]) * 10
    flat = np.clip(center, 0, 1)
    return np.array([np.where(inside, row, flat) for row in (*quantiles, worst)])


SMALLEST = 1e-12
"""Variance of a mean that chance seems to have no part in, since each user is all right or all wrong."""


def slices(found: Fitted, people: Mapping[str, Mapping[str, str]]) -> tuple[Slice, ...]:
    """Every slice that SHARED_BY users share and as many do not, the smallest p first, with p corrected by Holm's method
    so that a false one is named in at most 5 % of reports. Of two values that part the users in the same way, such as two genders, the first is tested.

    Args:
        people: user -> attribute -> value; a user without an attribute is not among the others of its slices.
    """
    weights = {user: 1 / (found.variance + noise) for user, noise in zip(found.means, found.noise, strict=True)}
    tested: dict[frozenset[frozenset[str]], Slice] = {}
    errors: dict[frozenset[frozenset[str]], tuple[float, int]] = {}
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
            tested[parted] = Slice(
                attribute, value, len(inside), difference, difference - reach, difference + reach, p, math.nan
            )
            errors[parted] = stderr, degrees
    corrected = holm([one.p for one in tested.values()])
    made = [
        replace(one, p=p, detectable=detectable(*errors[parted], tests=len(tested)))
        for (parted, one), p in zip(tested.items(), corrected, strict=True)
    ]
    return tuple(sorted(made, key=lambda one: one.p))


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


def _of_user(values: Sequence[float], users: Sequence[str]) -> dict[str, list[float]]:
    """User -> its defined values, in the order of the user ids."""
    found: dict[str, list[float]] = {}
    for value, user in zip(values, users, strict=True):
        if not math.isnan(value):
            found.setdefault(user, []).append(value)
    return {user: found[user] for user in sorted(found)}


def _raw_quantiles(values: Sequence[float]) -> list[float]:
    import numpy as np

    return [float(np.quantile(values, percent / 100)) for percent in PERCENTS]
