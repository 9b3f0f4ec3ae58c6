"""Estimates over users: means and other measures, their standard errors, and their intervals."""

# Users are drawn at random, cases are not: the cases of one user succeed and fail together. So the user is the unit
# everywhere here (Miller, arXiv 2411.00640: clustered standard errors, paired differences, power). Values come as one
# per case, beside the user of each case, in any order of cases; a value that is nan is left out.

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .clusters import Alike, Clusters, cluster_sums, degrees_of_freedom, shared_variance, stderr_of_sum

ALPHA = 0.05
"""The level of every test. Intervals contain the true value in the rest of all benchmarks."""

ALIKE = 0.15
"""Correlation of two cases of a user, as far as the cases that are not like all others are too few to show it.

Baselines have 0.02 to 0.04 on the General half, but a few users may have most of what goes wrong.
"""

ASSUMED = 8.0
"""As many cases unlike all others as ALIKE weighs beside what the data show."""

SMALLEST_ERROR = 1e-12
"""A standard error up to this is one of rounding."""

Values = Sequence[float]
"""A value of each case; nan where it has none."""

K = TypeVar("K")
T = TypeVar("T")


def mean(values: Iterable[float]) -> float:
    """Mean of the values that are defined; nan if none is."""
    defined = [value for value in values if value == value]  # nan is not; thrice as fast as math.isnan
    return math.fsum(defined) / len(defined) if defined else math.nan


def clustered_stderr(values: Sequence[float], clusters: Sequence[str]) -> float:
    """Standard error of the mean when the values of one cluster (one user) are correlated; nan is left out."""
    # Cluster-robust variance with the finite-cluster factor C / (C - 1), as inspect_ai's `stderr(cluster=)` has it
    # (Miller, arXiv 2411.00640, Appendix A); there a single cluster gives 0, here nan, since the error is unknown.
    center = mean(values)
    deviations: dict[str, float] = {}
    n = 0
    for value, cluster in zip(values, clusters, strict=True):
        if not math.isnan(value):
            deviations[cluster] = deviations.get(cluster, 0.0) + value - center
            n += 1
    return stderr_of_sum(deviations.values()) / n if n else math.nan


@dataclass(frozen=True)
class Estimate:
    """A mean over cases with its uncertainty, in the unit of the values. What is undefined is nan.

    Attributes:
        value: over the cases whose value is defined; each case weighs the same, or each cell.
        stderr: of `value`, clustered by user; nan with fewer than two users.
        low: lower end of the 95 % interval.
        high: its upper end.
        n: number of cases with a defined value.
        users: number of users with one.
    """

    value: float
    stderr: float
    low: float
    high: float
    n: int
    users: int

    def within(self, least: float, most: float) -> Estimate:
        """With its value and the ends of its interval between these."""
        value, low, high = (min(max(end, least), most) for end in (self.value, self.low, self.high))  # nan stays nan
        return replace(self, value=value, low=low, high=high)


def percent(value: float, sign: bool = False, stderr: float = math.nan) -> str:
    """A share as a table shows it: 0.7351 -> 73.5; with a standard error, where there is one, 73.5 ± 1.2."""
    rounded = round(100 * value, 1) + 0.0  # no -0.0
    shown = "–" if math.isnan(value) else f"{rounded:{'+' if sign else ''}.1f}"
    return shown if math.isnan(stderr) else f"{shown} ± {100 * stderr:.1f}"


def estimate(values: Values, alike: Alike) -> Estimate:
    """Mean, clustered standard error, and the interval value +- t(0.975, users - 1) * stderr.

    Args:
        values: one per case, in any unit; nan is left out.
        alike: with several prompts, the degrees of freedom are those of the fewer clusters.
    """
    # Equal to `mean()`, `stderr(cluster=)` and `ci(cluster=)` of inspect_ai over the defined values, except that a
    # single user gives nan, since the error is unknown, where those give 0. Where all values are equal, the error of 0
    # says nothing about the spread and the interval is nan. Where users are alike because their mean is 0, as of two
    # runs that agree in every case, and values are in [-1, 1], it reaches as far to both sides as the mean size of the
    # values may: no mean is larger.
    return _estimate(values, Clusters.of(alike))[0]


def _estimate(values: Values, clusters: Clusters) -> tuple[Estimate, float, float]:
    # (the estimate, its degrees of freedom, the skewness of the mean)
    given = _array(values)
    value, n, moves, _ = _mean(given, clusters.cells)
    stderr, ways = _spread(moves, clusters)
    sums, degrees = ways[0], min(map(len, ways)) - 1
    size = math.hypot(*sums)
    skewness = math.fsum((d / size) ** 3 for d in sums) if size else 0.0
    reach = critical(degrees) * stderr if shows_spread(stderr) else math.nan
    if value == 0 and len(sums) > 1 and not shows_spread(stderr):
        sizes = abs(given)
        if not (sizes > 1).any():
            reach = share(sizes, clusters).high
    return Estimate(value, stderr, value - reach, value + reach, n, len(sums)), degrees, skewness


def paired(values: Values, alike: Alike) -> Estimate:
    """`estimate` of a difference between two runs, paired by case; the interval allows for skew between users."""
    return paired_test(values, alike)[0]


def paired_test(values: Values, alike: Alike) -> tuple[Estimate, float]:
    """`paired`, and the two-sided p value of "no difference", in [0, 1]: below 0.05 where the interval excludes 0.

    A difference that is the same for all users has the p value of a sign test; one without a user has nan.
    """
    # Where a few users have much of the difference, others of their kind may be missing among these. So the interval
    # also reaches as far as Hall's transformation of t says (1992, Journal of the Royal Statistical Society B 54),
    # which allows for the skewness of the mean, and p is the larger one of both. That of values in [-1, 1] stays there.
    found, degrees, skewness = _estimate(values, Clusters.of(alike))
    low, high = found.low, found.high
    if not shows_spread(found.stderr):
        p = math.nan if math.isnan(found.value) else 2 * 0.5**found.users if found.value else 1.0
    else:
        t, skew = abs(found.value) / found.stderr, skewness if found.value > 0 else -skewness
        transformed = t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6
        p = two_sided_p(max(0.0, min(t, transformed)), degrees)
    if abs(skewness) >= SMALLEST_ERROR:
        t = critical(degrees)
        below, above = (
            3 / skew * (math.cbrt(1 + skew * (t - skew / 6)) - 1) * found.stderr for skew in (skewness, -skewness)
        )
        low, high = min(low, found.value - below), max(high, found.value + above)
    largest = math.inf if (abs(_array(values)) > 1).any() else 1.0  # of shares
    return replace(found, low=max(low, -largest), high=min(high, largest)), p


def two_sided_p(t: float, degrees: float) -> float:
    """How often Student's t is at least as far from 0."""
    from scipy.special import stdtr  # the extra `report` brings it

    return 2 * float(stdtr(degrees, -abs(t)))


def shows_spread(stderr: float) -> bool:
    """Whether values differ by more than the rounding of their mean: of equal ones an interval has no width."""
    return stderr > SMALLEST_ERROR


def share(values: Values, alike: Alike) -> Estimate:
    """`estimate` of values in [0, 1], with the interval of Wilson (1927), which stays there."""
    # The effective number of cases, value * (1 - value) / stderr ** 2, replaces their number (Franco, Little, Louis,
    # Slud 2019: the best of such intervals for clustered samples). Near 0 and 1 a few cases, or the cases of one user,
    # decide the standard error, and with none of them it is 0. So it is taken together with what cases that correlate
    # by ALIKE within users would give, which weighs as much as ASSUMED wrong cases (moderated as by Smyth 2004); t has
    # the degrees of freedom of the error. Then one more wrong case never moves an end far. Where all values are equal,
    # and neither 0 nor 1, the interval is nan.
    import numpy as np

    given, clusters = _array(values), Clusters.of(alike)
    if ((given < 0) | (given > 1)).any():
        raise ValueError("found a value outside [0, 1], expected shares")
    value, n, moves, weights = _mean(given, clusters.cells)
    stderr, ways = _spread(moves, clusters)
    low = high = math.nan
    if len(ways[0]) > 1 and (value in (0, 1) or np.nanmin(given) < np.nanmax(given)):
        of_cases = float(np.nansum(weights**2))
        of_users = math.fsum(one * one for one in cluster_sums(weights, clusters.users[0]))
        assumed, weight = of_cases + ALIKE * (of_users - of_cases), ASSUMED / n
        # of the effective number of cases
        inverse = (stderr**2 + weight * assumed) / (value * (1 - value) + weight)
        square = inverse * critical(min(map(degrees_of_freedom, ways))) ** 2
        reach = math.sqrt(square * (value * (1 - value) + square / 4))
        low = (value + square / 2 - reach) / (1 + square) if value > 0 else 0.0
        high = (value + square / 2 + reach) / (1 + square) if value < 1 else 1.0
    return Estimate(value, stderr, low, high, n, len(ways[0]))


def _array(values: Any) -> Any:
    import numpy as np  # the extra `report` brings it

    return np.asarray(values, dtype=float)


def _mean(given: Any, cells: Any) -> tuple[float, int, Any, Any]:
    # The mean, the number of defined values, each case's deviation by its weight in the mean, and that weight (nan
    # where its value is). Deviations are from the cell's mean; a cell without a value makes the mean nan.
    import numpy as np

    defined = ~np.isnan(given)
    names = np.unique(cells)
    weights, moves = np.full((2, len(given)), math.nan)
    means = []
    for cell in names:
        inside = defined & (cells == cell)
        count = int(inside.sum())
        means.append(math.fsum(given[inside].tolist()) / count if count else math.nan)
        weights[inside] = 1 / (len(names) * count) if count else math.nan
        moves[inside] = (given[inside] - means[-1]) / (len(names) * count)
    value = math.fsum(means) / len(means) if means else math.nan
    if math.isnan(value):  # a cell has no value: what the others have is no error of a mean that there is not
        weights, moves = np.full((2, len(given)), math.nan)
        return value, 0, moves, weights
    return value, int(defined.sum()), moves, weights


def _spread(moves: Any, clusters: Clusters) -> tuple[float, list[list[float]]]:
    # (the standard error, the moves summed by user and, where there are several, by prompt)
    ways = [cluster_sums(moves, clusters.users)]
    if len(clusters.users) == clusters.prompt_count == 1:  # users alone, which are summed already
        return stderr_of_sum(ways[0]), ways
    if len(prompts := cluster_sums(moves, clusters.prompts)) > 1:
        ways.append(prompts)
    variance = shared_variance(lambda numbers: stderr_of_sum(cluster_sums(moves, numbers)) ** 2, clusters)
    return math.sqrt(variance), ways


def jackknife_stderr(measure: Callable[[Sequence[T]], float], items: Sequence[T], alike: Alike) -> float:
    """Standard error of what is no mean over cases, such as F1, leaving out one cluster at a time; nan if undefined."""
    # sqrt((C - 1) / C * sum((without one - their mean) ** 2)) over C clusters (Efron, Tibshirani 1993, chapter 11).
    import numpy as np

    def variance(numbers: Any) -> float:
        names = np.unique(numbers)
        if len(names) < 2:
            return math.nan
        without = []
        for left_out in names:
            kept = (np.atleast_2d(numbers) != left_out).all(axis=0)
            without.append(measure([item for item, is_kept in zip(items, kept, strict=True) if is_kept]))
        center = math.fsum(without) / len(names)
        return (len(names) - 1) / len(names) * math.fsum((value - center) ** 2 for value in without)

    return math.sqrt(shared_variance(variance, Clusters.of(alike)))


def estimate_of(
    measure: Callable[[Sequence[T]], float],
    items: Sequence[T],
    alike: Alike,
    ends: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """The jackknife estimate of what is no mean over cases. Its 95 % interval stays between the measure's `ends`."""
    # The interval is value +- t * stderr on the scale of log((value - low) / (high - value)), or of log(value - low)
    # where nothing bounds it above. At an end the plain interval is cut off there. Where leaving out any user changes
    # nothing, the error of 0 says nothing about the spread: the interval is nan.
    clusters = Clusters.of(alike)
    value, stderr = measure(items), jackknife_stderr(measure, items, clusters)
    count, prompts = clusters.count, clusters.prompt_count
    fewer = min(count, prompts) if prompts > 1 else count
    reach = critical(fewer - 1) * stderr if shows_spread(stderr) else math.nan
    least, most = ends
    low, high = max(least, value - reach), min(most, value + reach)
    if math.isnan(reach):
        low = high = math.nan
    elif math.isfinite(least) and least < value < most:
        # The slope of the scale at the value, and back.
        below, above = value - least, most - value
        factor = math.exp(reach * (1 / below + 1 / above))  # 1 / inf is 0
        if math.isfinite(most):
            low, high = (least + (most - least) / (1 + above / below * by) for by in (factor, 1 / factor))
        else:
            low, high = least + below / factor, least + below * factor
    return Estimate(value, stderr, low, high, len(items), count)


def by_user(moves: Iterable[tuple[K, float]]) -> dict[K, float]:
    """User -> the sum of what that user's cases move an estimate by; the moves of all cases sum to 0."""
    # Where an estimate is a function of several means, a user may have cases in several: the sum has their covariance.
    deviations: dict[K, float] = {}
    for user, move in moves:
        deviations[user] = deviations.get(user, 0.0) + move
    return deviations


def linearized(value: float, deviations: Mapping[K, float], n: int, degrees: float = math.inf) -> Estimate:
    """The estimate value +- t * stderr by its first-order expansion, with the degrees of freedom of `share`.

    Args:
        deviations: of each user; if all are 0, there is no interval.
        degrees: at most so many degrees of freedom: where one of the means has fewer users than the others.
    """
    moves = deviations.values()
    stderr = stderr_of_sum(moves)
    few = min(degrees, degrees_of_freedom(moves))
    reach = critical(few) * stderr if shows_spread(stderr) else math.nan
    return Estimate(value, stderr, value - reach, value + reach, n, len(moves))


def critical(degrees: float, tests: int = 1) -> float:
    """How many standard errors a 95 % interval reaches to each side; of `tests` ones, all hold at once (Bonferroni)."""
    return t_quantile(1 - ALPHA / 2 / tests, degrees)


def t_quantile(level: float, degrees: float) -> float:
    """Quantile of Student's t; nan with fewer than one degree of freedom."""
    if not degrees >= 1:
        return math.nan
    from scipy.special import stdtrit  # the extra `report` brings it; of one user, a report spares its 0.2 s

    return float(stdtrit(degrees, level))
