"""Statistics over users: intervals, paired differences, p values, and the smallest detectable difference.

Users are drawn at random, cases are not: the cases of one user succeed and fail together. So the user is the unit
everywhere here (Miller, arXiv 2411.00640: clustered standard errors, paired differences, power). Values come as one
per case, beside the user of each case, in any order of cases; a value that is nan is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
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
        value: mean over the cases whose value is defined; each case weighs the same.
        stderr: standard error of `value`, clustered by user; nan with fewer than two users.
        low: lower end of the 95 % interval. Not cut at the range of the values, as Inspect does not cut it either.
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


def estimate(values: Sequence[float], users: Sequence[str]) -> Estimate:
    """Mean, clustered standard error, and the interval value +- t(0.975, users - 1) * stderr.

    Equal to `mean()`, `stderr(cluster=)` and `ci(cluster=)` of inspect_ai over the defined values, except that a single
    user gives nan, since the error is unknown, where those give 0. Without any spread the interval is a point.

    Args:
        values: one per case, in any unit; nan is left out.
        users: the user of each case.
    """
    defined = [user for value, user in zip(values, users, strict=True) if not math.isnan(value)]
    return _estimate(mean(values), clustered_stderr(values, users), len(defined), len(set(defined)))


def macro_estimate(values: Sequence[float], users: Sequence[str], cells: Sequence[str]) -> Estimate:
    """The plain mean of the means of some cells, each cell weighing the same; equal to `estimate` for one cell.

    The standard error is clustered by user across cells: a case's deviation from the mean of its cell weighs as much as the
    case does in the macro mean.

    Args:
        values: one per case, in any unit; nan is left out. A cell without a defined value makes everything nan.
        users, cells: the user and the cell of each case.
    """
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
    count = len(deviations)
    middle = sum(means.values()) / len(means) if means else math.nan  # nan if a cell has no defined value
    stderr = math.sqrt(sum(d * d for d in deviations.values()) * count / (count - 1)) if count > 1 else math.nan
    return _estimate(
        middle, math.nan if math.isnan(middle) else stderr, sum(map(len, in_cell.values())), len(deviations)
    )


def estimate_of(measure: Callable[[Sequence[T]], float], items: Sequence[T], users: Sequence[str]) -> Estimate:
    """The same for something that is not a mean over cases, with its jackknife standard error.

    Args:
        measure, items: see `jackknife_stderr`.
        users: the user of each case.
    """
    return _estimate(measure(items), jackknife_stderr(measure, items, users), len(items), len(set(users)))


def _estimate(value: float, stderr: float, n: int, users: int) -> Estimate:
    reach = _t(1 - (1 - LEVEL) / 2, users) * stderr
    return Estimate(value, stderr, value - reach, value + reach, n, users)


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


def minimum_detectable_difference(differences: Sequence[float], users: Sequence[str], power: float = 0.8) -> float:
    """The true difference that such data show with probability `power`, tested at the 5 % level.

    (t(0.975, users - 1) + t(power, users - 1)) * stderr, in the unit of the differences: how much "no difference was
    found" leaves open. It depends on their spread, not on their mean; nan with fewer than two users.

    Args:
        differences: one paired difference per case; nan is left out.
        users: the user of each case.
        power: in (0.5, 1).
    """
    found = estimate(differences, users)
    return (_t(1 - (1 - LEVEL) / 2, found.users) + _t(power, found.users)) * found.stderr


def _t(share: float, users: int) -> float:
    """Quantile of Student's t with users - 1 degrees of freedom; nan with fewer than two users."""
    from scipy.special import stdtrit  # the extra `report` brings it

    return float(stdtrit(users - 1, share))


def _sums(values: Sequence[float], users: Sequence[str]) -> list[float]:
    """The sum of each user's defined values, in the order of the user ids, whatever the order of the cases."""
    parts: dict[str, list[float]] = {}
    for value, user in zip(values, users, strict=True):
        if not math.isnan(value):
            parts.setdefault(user, []).append(value)
    return [math.fsum(parts[user]) for user in sorted(parts)]
