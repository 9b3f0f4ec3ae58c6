"""Statistics over users: intervals, paired differences, p values, and the smallest detectable difference.

Users are drawn at random, cases are not: the cases of one user succeed and fail together. So the user is the unit
everywhere here (Miller, arXiv 2411.00640: clustered standard errors, paired differences, power). Values come as one
per case, beside the user of each case, in any order of cases; a value that is nan is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

LEVEL = 0.95
"""Share of benchmarks whose interval contains the true value. 1 - LEVEL is the level of every test."""

RESAMPLES = 9_999
"""Random flips behind a p value. Up to 13 users have fewer flips than that, and all of them are tried."""

SEED = 20250615
"""The flips are the same in every call, so the same results have the same p value."""


T = TypeVar("T")


def mean(values: Iterable[float]) -> float:
    """Mean of the values that are defined; nan if none is."""
    defined = [value for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else math.nan


def clustered_stderr(values: Sequence[float], clusters: Sequence[str]) -> float:
    """Standard error of the mean when the values of one cluster (one user) are correlated.

    Cluster-robust variance with the finite-cluster factor C / (C - 1), as inspect_ai's `stderr(cluster=)` has it
    (Miller, arXiv 2411.00640, Appendix A); there a single cluster gives 0, here nan, since the error is unknown.

    Args:
        values: one value per case; nan is left out.
        clusters: the cluster of each value.
    """
    center = mean(values)
    deviations: dict[str, float] = {}
    n = 0
    for value, cluster in zip(values, clusters, strict=True):
        if not math.isnan(value):
            deviations[cluster] = deviations.get(cluster, 0.0) + value - center
            n += 1
    count = len(deviations)
    if count < 2:
        return math.nan
    return math.sqrt(sum(d * d for d in deviations.values()) * count / (count - 1)) / n


def jackknife_stderr(measure: Callable[[Sequence[T]], float], items: Sequence[T], clusters: Sequence[str]) -> float:
    """Standard error of something that is not a mean over cases, such as F1: leaving out one cluster at a time.

    sqrt((C - 1) / C * sum((without one - their mean) ** 2)) over C clusters (Efron, Tibshirani 1993, chapter 11).

    Args:
        measure: items -> its value; nan where it is undefined.
        items: one per case.
        clusters: the cluster (one user) of each case. nan with fewer than two, or where it is undefined without one of them.
    """
    names = list(dict.fromkeys(clusters))
    if len(names) < 2:
        return math.nan
    without = [
        measure([item for item, cluster in zip(items, clusters, strict=True) if cluster != left_out])
        for left_out in names
    ]
    center = math.fsum(without) / len(names)
    return math.sqrt((len(names) - 1) / len(names) * math.fsum((value - center) ** 2 for value in without))


@dataclass(frozen=True)
class Estimate:
    """A mean over cases with its uncertainty, in the unit of the values. What is undefined is nan.

    Attributes:
        value: mean over the cases whose value is defined; each case weighs the same, or each cell.
        stderr: standard error of `value`, clustered by user; nan with fewer than two users.
        low: lower end of the 95 % interval.
        high: upper end.
        n: number of defined values.
        users: number of users with a defined value.
    """

    value: float
    stderr: float
    low: float
    high: float
    n: int
    users: int


def percent(value: float, sign: bool = False, stderr: float = math.nan) -> str:
    """A share as a table shows it: 0.7351 -> 73.5; with a standard error, where there is one, 73.5 ± 1.2."""
    rounded = round(100 * value, 1) + 0.0  # no -0.0
    shown = "–" if math.isnan(value) else f"{rounded:{'+' if sign else ''}.1f}"
    return shown if math.isnan(stderr) else f"{shown} ± {100 * stderr:.1f}"


def estimate(values: Sequence[float], users: Sequence[str], cells: Sequence[str] | None = None) -> Estimate:
    """Mean, clustered standard error, and the interval value +- t(0.975, users - 1) * stderr.

    Equal to `mean()`, `stderr(cluster=)` and `ci(cluster=)` of inspect_ai over the defined values, except that a single
    user gives nan, since the error is unknown, where those give 0. Without any spread the interval is a point.

    Args:
        values: one per case, in any unit; nan is left out.
        users: the user of each case.
        cells: the cell of each case, for the plain mean of the cells' means; None weighs all cases the same.
    """
    value, n, deviations = _mean(values, users, cells)
    stderr = _stderr(deviations)
    reach = _t(1 - (1 - LEVEL) / 2, len(deviations) - 1) * stderr
    return Estimate(value, stderr, value - reach, value + reach, n, len(deviations))


def share(values: Sequence[float], users: Sequence[str], cells: Sequence[str] | None = None) -> Estimate:
    """The same for values in [0, 1], with an interval that stays there: value +- t * stderr on the logit scale.

    Near 0 and 1 a few users have most of the deviations, so the standard error is itself uncertain. The degrees of freedom
    of t are therefore those of that variance, from the kurtosis of the users' deviations (Satterthwaite), and at most
    users - 1. Where all values are 0, or all 1, the error says nothing: the other end is then the share that gives such
    data with a probability of 2.5 %, as in the interval of Clopper and Pearson.

    Args:
        values, users, cells: see `estimate`.

    Raises:
        ValueError: a value is outside [0, 1].
    """
    if any(value < 0 or value > 1 for value in values):
        raise ValueError("found a value outside [0, 1], expected shares")
    value, n, deviations = _mean(values, users, cells)
    stderr, tail = _stderr(deviations), (1 - LEVEL) / 2
    low = high = math.nan
    if value in (0, 1) and len(deviations) > 1:
        reach = 1 - tail ** (1 / n)
        low, high = (0.0, reach) if value == 0 else (1 - reach, 1.0)
    elif not math.isnan(stderr):
        reach = _t(1 - tail, degrees_of_freedom(deviations)) * stderr / (value * (1 - value))
        odds = math.log(value / (1 - value))
        low, high = (1 / (1 + math.exp(side * reach - odds)) for side in (1, -1))
    return Estimate(value, stderr, low, high, n, len(deviations))


def _mean(
    values: Sequence[float], users: Sequence[str], cells: Sequence[str] | None
) -> tuple[float, int, dict[str, float]]:
    """(mean, number of defined values, user -> the sum of the deviations of its cases, each by its weight in the mean).

    With cells, the deviations are those from the mean of the case's cell. A cell without a defined value makes it nan.
    """
    cells = [""] * len(values) if cells is None else cells
    in_cell: dict[str, list[float]] = {cell: [] for cell in cells}
    for value, cell in zip(values, cells, strict=True):
        if not math.isnan(value):
            in_cell[cell].append(value)
    means = {cell: mean(found) for cell, found in in_cell.items()}
    deviations: dict[str, float] = {}
    for value, user, cell in zip(values, users, cells, strict=True):
        if not math.isnan(value):
            weight = len(in_cell) * len(in_cell[cell])
            deviations[user] = deviations.get(user, 0.0) + (value - means[cell]) / weight
    middle = math.fsum(means.values()) / len(means) if means else math.nan
    return middle, sum(map(len, in_cell.values())), deviations


def _stderr(deviations: Mapping[str, float]) -> float:
    """See `clustered_stderr`."""
    count = len(deviations)
    return math.sqrt(sum(d * d for d in deviations.values()) * count / (count - 1)) if count > 1 else math.nan


def degrees_of_freedom(deviations: Mapping[str, float]) -> float:
    """Degrees of freedom of the variance of some users' deviations: 2 C / (kurtosis - 1) - 1, between 1 and C - 1 for C users."""
    count = len(deviations)
    squares = [d * d for d in deviations.values()]
    spread = sum(squares) ** 2
    kurtosis = count * sum(square * square for square in squares) / spread if spread else 1.0
    return min(count - 1.0, max(1.0, 2 * count / (kurtosis - 1) - 1)) if kurtosis > 1 else count - 1.0


def estimate_of(measure: Callable[[Sequence[T]], float], items: Sequence[T], users: Sequence[str]) -> Estimate:
    """The same for something that is not a mean over cases, with its jackknife standard error.

    Args:
        measure, items: see `jackknife_stderr`.
        users: the user of each case.

    Where leaving out any user changes nothing, the error of 0 says nothing about the spread: the interval is nan.
    """
    value, stderr, count = measure(items), jackknife_stderr(measure, items, users), len(set(users))
    reach = _t(1 - (1 - LEVEL) / 2, count - 1) * stderr if stderr else math.nan
    return Estimate(value, stderr, value - reach, value + reach, len(items), count)


def by_user(moves: Iterable[tuple[str, float]]) -> dict[str, float]:
    """User -> the sum of what that user's cases move an estimate by; the moves of all cases sum to 0.

    Args:
        moves: (user, move) of each case. Where an estimate is a function of several means, a user may have cases in several of
            them: the sum has their covariance.
    """
    deviations: dict[str, float] = {}
    for user, move in moves:
        deviations[user] = deviations.get(user, 0.0) + move
    return deviations


def linearized(value: float, deviations: Mapping[str, float], n: int, degrees: float = math.inf) -> Estimate:
    """An estimate whose error is that of its first-order expansion: value +- t * stderr, with the degrees of freedom of `share`.

    Args:
        value: a smooth function of means.
        deviations: see `by_user`.
        n: number of cases, for `Estimate.n`.
        degrees: at most so many degrees of freedom: where one of the means has fewer users than the others.
    """
    stderr = _stderr(deviations)
    reach = _t(1 - (1 - LEVEL) / 2, min(degrees, degrees_of_freedom(deviations))) * stderr
    return Estimate(value, stderr, value - reach, value + reach, n, len(deviations))


def sign_flip_p(differences: Sequence[float], users: Sequence[str], resamples: int = RESAMPLES) -> float:
    """Two-sided permutation p value of "the two runs are equally good for these users", in (0, 1].

    If so, a user's summed difference could as well have had the opposite sign. Whole users flip: flipping single
    cases would take the correlation within users for evidence, and reject far too often.

    Args:
        differences: one paired difference per case; nan is left out. Without a defined one the p value is nan.
        users: the user of each case.
        resamples: number of random flips. All 2 ** users flips are tried where that is no more, and p is exact.
    """
    sums = _sums(differences, users)
    if len(sums) < 2:
        return 1.0 if sums else math.nan  # flipped or not, a single user is equally far from 0; scipy wants two
    import numpy as np
    from scipy import stats  # a second of start-up, for this test alone

    test = stats.permutation_test(
        (sums,), np.sum, permutation_type="samples", vectorized=True, n_resamples=resamples,
        rng=np.random.default_rng(SEED),
    )  # fmt: skip
    return float(test.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values of several tests, corrected so that any false one is significant at a level with at most that probability.

    Holm (1979), in the order given. scipy has no such correction, and importing statsmodels takes longer than a report.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    found, highest = [math.nan] * len(p_values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - place) * p_values[index]))
        found[index] = highest
    return found


def minimum_detectable_difference(differences: Sequence[float], users: Sequence[str], power: float = 0.8) -> float:
    """The true difference that such data show with probability `power`, tested at the 5 % level.

    (t(0.975, users - 1) + t(power, users - 1)) * stderr, in the unit of the differences: how much "no difference was
    found" leaves open. `power.Comparison` says the same before a run. It depends on their spread, not on their mean; nan with fewer than two users.

    Args:
        differences: one paired difference per case; nan is left out.
        users: the user of each case.
        power: in (0.5, 1).
    """
    found = estimate(differences, users)
    return detectable(found.stderr, found.users - 1, power)


def detectable(stderr: float, degrees: float, power: float = 0.8) -> float:
    """The true difference that an estimate with this standard error shows with probability `power`, tested at the 5 % level.

    Args:
        degrees: of freedom of the standard error; nan with fewer than one.
        power: in (0.5, 1).
    """
    return (critical(degrees) + _t(power, degrees)) * stderr


def critical(degrees: float) -> float:
    """How many standard errors a 95 % interval reaches to each side; nan with fewer than one degree of freedom."""
    return _t(1 - (1 - LEVEL) / 2, degrees)


def two_sided_p(t: float, degrees: float) -> float:
    """How often Student's t is at least as far from 0."""
    from scipy.special import stdtr

    return 2 * float(stdtr(degrees, -abs(t)))


def _t(level: float, degrees: float) -> float:
    """Quantile of Student's t; nan with fewer than one degree of freedom."""
    from scipy.special import stdtrit  # the extra `report` brings it

    return float(stdtrit(degrees, level)) if degrees >= 1 else math.nan


def _sums(values: Sequence[float], users: Sequence[str]) -> list[float]:
    """The sum of each user's defined values, in the order of the user ids, whatever the order of the cases."""
    parts: dict[str, list[float]] = {}
    for value, user in zip(values, users, strict=True):
        if not math.isnan(value):
            parts.setdefault(user, []).append(value)
    return [math.fsum(parts[user]) for user in sorted(parts)]
