"""The distribution of the users' true accuracies: its center and spread with what chance adds taken out, and its quantiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..common.statistics import LEVEL, Estimate, critical, degrees_of_freedom, mean


@dataclass(frozen=True)
class Fitted:
    """The distribution of the users' true accuracies.

    Attributes:
        noise: the variance that chance gives each of these means.
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

    sizes = np.array([len(values) for values in of_user.values()])
    means = np.array([mean(values) for values in of_user.values()])
    within = math.fsum((value - m) ** 2 for values, m in zip(of_user.values(), means, strict=True) for value in values)
    noise = np.maximum(within / (sizes.sum() - len(sizes)) / sizes, SMALLEST)
    users, tail = len(sizes), (1 - LEVEL) / 2
    center, variance = _moments(means, noise, users - 1)
    deviations = ((means - center) / np.sqrt(variance + noise)).tolist()
    degrees = degrees_of_freedom(deviations)
    low, high = (
        _moments(means, noise, chdtri(degrees, above) / degrees * (users - 1))[1] for above in (tail, 1 - tail)
    )
    return Fitted(dict(zip(of_user, means.tolist(), strict=True)), noise.tolist(), center, variance, low, high)


SMALLEST = 1e-12
"""Variance of a mean that chance seems to have no part in, since each user is all right or all wrong."""

LARGEST = 0.25
"""Variance of shares of which one half is 0 and the other 1."""


def _moments(means: Any, noise: Any, expected: float) -> tuple[float, float]:
    """(center, variance) at which Q is `expected`; the variance is at most LARGEST, and 0 where Q is too small for any."""
    from scipy.optimize import brentq

    def center(variance: float) -> float:
        weights = 1 / (variance + noise)
        return float((weights * means).sum() / weights.sum())

    def excess(variance: float) -> float:
        return float(((means - center(variance)) ** 2 / (variance + noise)).sum() - expected)

    if excess(0) <= 0:
        variance = 0.0
    elif excess(LARGEST) >= 0:
        variance = LARGEST
    else:
        variance = float(brentq(excess, 0, LARGEST, xtol=1e-15))
    return center(variance), variance


PERCENTS = (10, 50, 90)

BELIEVED = 0.7
"""How much of a correlation counts by which the errors of center and variance cancel out. With all of it the intervals of the 90 % quantile hold
in 89 to 94 % of simulations, since the interval of the variance is longer to one side than the correlation knows."""


def quantiles(fitted: Fitted) -> list[Estimate]:
    """The quantiles at PERCENTS and the mean of the worst tenth, each with a 95 % interval in [0, 1]. `stderr` is half of its length over t.

    Each is a function of the center and the variance. How far it reaches when either goes to an end of its own interval (by t, and that of
    `fit`) is combined as errors are, with the correlation between what each user moves the two by (Zou, Donner 2008). The reach is then
    stretched by t at the degrees of freedom of both moves together.
    """
    import numpy as np

    means, noise = np.array(list(fitted.means.values())), np.array(fitted.noise)
    count = len(means)
    weights = 1 / (fitted.variance + noise)
    residuals = means - fitted.center
    # The error of the center comes from the weighted residuals, as in `users._difference` (Knapp, Hartung 2003).
    reach = critical(count - 1) * math.sqrt(float((weights * residuals**2).sum() / weights.sum()) / (count - 1))
    moves = np.array([weights * residuals, weights**2 * (residuals**2 - 1 / weights)])
    moves -= moves.mean(axis=1, keepdims=True)
    deviation = moves.std(axis=1, keepdims=True)
    moves /= np.where(deviation > 0, deviation, 1)
    correlation = float((moves[0] * moves[1]).mean())

    centers = fitted.center + reach * np.array([0, -1, 1, 0, 0])
    variances = np.array([fitted.variance] * 3 + [fitted.low, fitted.high])
    estimates = []
    for value, *at_ends in _of_distribution(centers, variances).tolist():
        ends = []
        for side in (-1, 1):
            (center, up), (variance, wide) = (
                max((max(0.0, side * (end - value)), sign) for end, sign in zip(pair, (-1, 1), strict=True))
                for pair in (at_ends[:2], at_ends[2:])
            )
            together = up * wide * correlation
            together *= BELIEVED if together < 0 else 1
            distance = math.sqrt(center**2 + variance**2 + 2 * together * center * variance)
            joint = up * center * moves[0] + wide * variance * moves[1]
            stretch = critical(degrees_of_freedom(joint.tolist())) / critical(count - 1)
            ends.append(min(1.0, max(0.0, value + side * distance * stretch)))
        low, high = ends
        estimates.append(Estimate(value, (high - low) / 2 / critical(count - 1), low, high, count, count))
    return estimates


def _of_distribution(center: Any, variance: Any) -> Any:
    """Rows: the quantiles at PERCENTS, and the mean of the lowest tenth, of beta distributions with these moments."""
    import numpy as np
    from scipy.special import betainc, betaincinv

    center = np.clip(center, 0, 1)
    # Shares around a mean have at most center * (1 - center), where all of them are 0 or 1.
    variance = np.minimum(variance, 0.999 * center * (1 - center))
    spread = variance > SMALLEST
    m, v = np.where(spread, center, 0.5), np.where(spread, variance, 0.01)
    cases = m * (1 - m) / v - 1  # that many cases the distribution counts as
    a, b = m * cases, (1 - m) * cases
    rows = [betaincinv(a, b, percent / 100) for percent in PERCENTS]
    worst = m * betainc(a + 1, b, rows[0]) * 10
    return np.array([np.where(spread, row, center) for row in (*rows, worst)])
