"""Statistics over users: means, their standard errors, and their intervals.

Users are drawn at random, cases are not: the cases of one user succeed and fail together. So the user is the unit
everywhere here (Miller, arXiv 2411.00640: clustered standard errors, paired differences, power). Values come as one
per case, beside the user of each case, in any order of cases; a value that is nan is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

LEVEL = 0.95
"""Share of benchmarks whose interval contains the true value. 1 - LEVEL is the level of every test."""

ALIKE = 0.05
"""Correlation of two cases of a user where all values are equal and cannot show it: above what baselines have on the General
half (0.02 to 0.04)."""

SMALLEST_ERROR = 1e-12
"""A standard error up to this is one of rounding."""

K = TypeVar("K")


def mean(values: Iterable[float]) -> float:
    """Mean of the values that are defined; nan if none is."""
    defined = [value for value in values if value == value]  # nan is not; thrice as fast as math.isnan
    return math.fsum(defined) / len(defined) if defined else math.nan


def clustered_stderr(values: Sequence[float], clusters: Sequence[str]) -> float:
    """Standard error of the mean when the values of one cluster (one user) are correlated.

    Cluster-robust variance with the finite-cluster factor C / (C - 1), as inspect_ai's `stderr(cluster=)` has it
    (Miller, arXiv 2411.00640, Appendix A); there a single cluster gives 0, here nan, since the error is unknown.

    Args:
        values: one value per case; nan is left out.
    """
    center = mean(values)
    deviations: dict[str, float] = {}
    n = 0
    for value, cluster in zip(values, clusters, strict=True):
        if not math.isnan(value):
            deviations[cluster] = deviations.get(cluster, 0.0) + value - center
            n += 1
    return _stderr(deviations.values()) / n if n else math.nan


def two_way(
    variance: Callable[[Sequence[object]], float], clusters: Sequence[str], also: Sequence[str] | None
) -> float:
    """The variance where cases are alike within users and within prompts: that of users + that of prompts - that of their pairs
    (Cameron, Gelbach, Miller 2011), and at least either of the first two, since the difference may be too small with few clusters.

    Args:
        variance: cluster of each case -> the variance with these clusters alone. Where it is undefined (nan) for users, prompts or their
            pairs, so is the result.
        clusters: of each case: its user.
        also: its prompt; None, or one prompt in all, for the users alone. Prompts of one user each change nothing.
    """
    of_clusters = variance(clusters)
    if also is None or len(set(also)) < 2:
        return of_clusters
    of_others = variance(also)
    pairs = list(zip(clusters, also, strict=True))
    both = of_clusters + of_others - variance(pairs)
    return both if math.isnan(both) else max(of_clusters, of_others, both)


Cluster = str | tuple[str, str]
"""A user, or a user and a prompt."""


@dataclass(frozen=True)
class Estimate:
    """A mean over cases with its uncertainty, in the unit of the values. What is undefined is nan.

    Attributes:
        value: mean over the cases whose value is defined; each case weighs the same, or each cell.
        stderr: standard error of `value`, clustered by user; nan with fewer than two users.
        low: lower end of the 95 % interval.
        users: number of users with a defined value.
    """

    value: float
    stderr: float
    low: float
    high: float
    n: int
    users: int


def complement(of: Estimate) -> Estimate:
    """The share of all others."""
    return Estimate(1 - of.value, of.stderr, 1 - of.high, 1 - of.low, of.n, of.users)


def percent(value: float, sign: bool = False, stderr: float = math.nan) -> str:
    """A share as a table shows it: 0.7351 -> 73.5; with a standard error, where there is one, 73.5 ± 1.2."""
    rounded = round(100 * value, 1) + 0.0  # no -0.0
    shown = "–" if math.isnan(value) else f"{rounded:{'+' if sign else ''}.1f}"
    return shown if math.isnan(stderr) else f"{shown} ± {100 * stderr:.1f}"


def estimate(
    values: Sequence[float],
    users: Sequence[str],
    cells: Sequence[str] | None = None,
    also: Sequence[str] | None = None,
) -> Estimate:
    """Mean, clustered standard error, and the interval value +- t(0.975, users - 1) * stderr.

    Equal to `mean()`, `stderr(cluster=)` and `ci(cluster=)` of inspect_ai over the defined values, except that a single
    user gives nan, since the error is unknown, where those give 0. Where all values are equal, the error of 0 says nothing about
    the spread and the interval is nan, unless all are 0: two runs that agree in every case differ by 0 to 0.

    Args:
        values: one per case, in any unit; nan is left out.
        cells: the cell of each case, for the plain mean of the cells' means; None weighs all cases the same.
        also: the prompt of each case where users share prompts, see `two_way`; the degrees of freedom are then those of the fewer.
    """
    value, n, moves = _mean(values, cells)
    spread = _spread(moves, users, also)
    return _symmetric(value, n, spread.stderr, spread.count - 1, spread.users)


def of_mean(value: float, n: int, deviations: Mapping[str, float]) -> Estimate:
    """`estimate`, from what it needs of the values.

    Args:
        deviations: user -> the sum of the deviations of its cases from the mean, each by its weight in the mean.
    """
    return _symmetric(value, n, _stderr(deviations.values()), len(deviations) - 1, len(deviations))


def _symmetric(value: float, n: int, stderr: float, degrees: float, users: int) -> Estimate:
    reach = critical(degrees) * stderr if shows_spread(stderr) or value == 0 else math.nan
    return Estimate(value, stderr, value - reach, value + reach, n, users)


def shows_spread(stderr: float) -> bool:
    """Whether values differ at all, but for the rounding of their mean: an interval made of equal ones would have no width."""
    return stderr > SMALLEST_ERROR


def share(
    values: Sequence[float],
    users: Sequence[str],
    cells: Sequence[str] | None = None,
    also: Sequence[str] | None = None,
) -> Estimate:
    """The same for values in [0, 1], with an interval that stays there: value +- t * stderr on the logit scale.

    Near 0 and 1 a few users have most of the deviations, so the standard error is itself uncertain. The degrees of freedom
    of t are therefore those of that variance, from the kurtosis of the users' deviations (Satterthwaite), and at most
    users - 1. Where all values are 0, or all 1, the error says nothing: the other end is then the share that gives such
    data with a probability of 2.5 %, as in the interval of Clopper and Pearson, with as many independent cases as there are
    cases over the design effect at the correlation ALIKE. Where all have another value in common, the interval is nan.

    Raises:
        ValueError: a value is outside [0, 1].
    """
    import numpy as np

    given = np.asarray(values, dtype=float)
    if ((given < 0) | (given > 1)).any():
        raise ValueError("found a value outside [0, 1], expected shares")
    value, n, moves = _mean(given, cells)
    spread = _spread(moves, users, also)
    stderr, tail = spread.stderr, (1 - LEVEL) / 2
    low = high = math.nan
    if value in (0, 1) and spread.users > 1:
        counts = user_sums((~np.isnan(given)).astype(float).tolist(), users)
        effect = 1 + ALIKE * (math.fsum(count * count for count in counts.values()) / n - 1)
        reach = 1 - tail ** (effect / n)
        low, high = (0.0, reach) if value == 0 else (1 - reach, 1.0)
    elif shows_spread(stderr):
        reach = t_quantile(1 - tail, spread.degrees) * stderr / (value * (1 - value))
        odds = math.log(value / (1 - value))
        low, high = (1 / (1 + math.exp(side * reach - odds)) for side in (1, -1))
    return Estimate(value, stderr, low, high, n, spread.users)


def _mean(values: Any, cells: Sequence[str] | None) -> tuple[float, int, Any]:
    """(mean, number of defined values, the deviation of each case by its weight in the mean; nan where its value is).

    With cells, the deviations are those from the mean of the case's cell. A cell without a defined value makes it nan.
    """
    import numpy as np  # the extra `report` brings it

    given = np.asarray(values, dtype=float)
    cell_of = np.zeros(len(given), dtype=int) if cells is None else numbered(tuple(cells))
    defined = ~np.isnan(given)
    names = range(int(cell_of.max()) + 1 if len(given) else 0)
    moves = np.full(len(given), math.nan)
    means = []
    for cell in names:
        inside = defined & (cell_of == cell)
        count = int(inside.sum())
        means.append(math.fsum(given[inside].tolist()) / count if count else math.nan)
        moves[inside] = (given[inside] - means[-1]) / (len(names) * count)
    return math.fsum(means) / len(means) if means else math.nan, int(defined.sum()), moves


@lru_cache(maxsize=8)  # the measures of a group share its users and cells
def numbered(names: tuple[Hashable, ...]) -> Any:
    """The number of each name, from 0 in the order in which they occur first."""
    import numpy as np

    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=int)


@dataclass(frozen=True)
class _Spread:
    """How far a mean is known: its standard error, the degrees of freedom of that by kurtosis, the number of users, and that of the
    fewer of users and prompts."""

    stderr: float
    degrees: float
    users: int
    count: int


def _spread(moves: Any, users: Sequence[str], also: Sequence[str] | None) -> _Spread:
    import numpy as np

    defined = ~np.isnan(moves)

    def summed(clusters: Sequence[Hashable]) -> list[float]:
        """The sum of each cluster that has a defined move, in the order in which they occur first, which decides the last digit."""
        numbers = numbered(tuple(clusters))
        if len(numbers) != len(moves):
            raise ValueError(f"found {len(numbers)} users or prompts, shorter or longer than the {len(moves)} values")
        sums = np.bincount(numbers[defined], weights=moves[defined]).tolist()
        return [sums[number] for number in dict.fromkeys(numbers[defined].tolist())]

    ways = [summed(clusters) for clusters in (users, also) if clusters is not None]
    ways = [way for number, way in enumerate(ways) if not number or len(way) > 1]
    stderr = _stderr(ways[0])
    if len(ways) > 1:
        stderr = math.sqrt(two_way(lambda clusters: _stderr(summed(clusters)) ** 2, users, also))
    return _Spread(stderr, min(map(degrees_of_freedom, ways)), len(ways[0]), min(map(len, ways)))


def _stderr(deviations: Collection[float]) -> float:
    """See `clustered_stderr`."""
    count = len(deviations)
    return math.sqrt(sum(d * d for d in deviations) * count / (count - 1)) if count > 1 else math.nan


def degrees_of_freedom(deviations: Collection[float]) -> float:
    """Degrees of freedom of the variance of some users' deviations: 2 C / (kurtosis - 1) - 1, between 1 and C - 1 for C users."""
    count = len(deviations)
    squares = [d * d for d in deviations]
    spread = sum(squares) ** 2
    kurtosis = count * sum(square * square for square in squares) / spread if spread else 1.0
    return min(count - 1.0, max(1.0, 2 * count / (kurtosis - 1) - 1)) if kurtosis > 1 else count - 1.0


def by_user(moves: Iterable[tuple[K, float]]) -> dict[K, float]:
    """User -> the sum of what that user's cases move an estimate by; the moves of all cases sum to 0.

    Args:
        moves: (user, move) of each case. Where an estimate is a function of several means, a user may have cases in several of
            them: the sum has their covariance.
    """
    deviations: dict[K, float] = {}
    for user, move in moves:
        deviations[user] = deviations.get(user, 0.0) + move
    return deviations


def linearized(value: float, deviations: Mapping[K, float], n: int, degrees: float = math.inf) -> Estimate:
    """An estimate whose error is that of its first-order expansion: value +- t * stderr, with the degrees of freedom of `share`.

    Deviations that are all 0 give no interval.

    Args:
        value: a smooth function of means.
        deviations: of each user; or of each (user, prompt) where users share prompts: the error is then over both, see `two_way`.
        degrees: at most so many degrees of freedom: where one of the means has fewer users than the others.
    """
    pairs: list[Any] = [cluster if isinstance(cluster, tuple) else (cluster, "") for cluster in deviations]
    users, prompts = [user for user, _ in pairs], [prompt for _, prompt in pairs]

    def summed(clusters: Sequence[Hashable]) -> Collection[float]:
        return by_user(zip(clusters, deviations.values(), strict=True)).values()

    ways = [summed(users), *([summed(prompts)] if len(set(prompts)) > 1 else [])]
    stderr = _stderr(ways[0])
    if len(ways) > 1:
        stderr = math.sqrt(two_way(lambda clusters: _stderr(summed(clusters)) ** 2, users, prompts))
    few = min(degrees, *map(degrees_of_freedom, ways))
    reach = critical(few) * stderr if shows_spread(stderr) else math.nan
    return Estimate(value, stderr, value - reach, value + reach, n, len(ways[0]))


def critical(degrees: float, tests: int = 1) -> float:
    """How many standard errors a 95 % interval reaches to each side; nan with fewer than one degree of freedom.

    Args:
        tests: number of intervals that hold at once with 95 % (Bonferroni).
    """
    return t_quantile(1 - (1 - LEVEL) / 2 / tests, degrees)


def t_quantile(level: float, degrees: float) -> float:
    """Quantile of Student's t; nan with fewer than one degree of freedom."""
    from scipy.special import stdtrit  # the extra `report` brings it

    return float(stdtrit(degrees, level)) if degrees >= 1 else math.nan


def user_sums(values: Sequence[float], users: Sequence[str]) -> dict[str, float]:
    """User -> the sum of that user's defined values, in the order of the user ids, whatever the order of the cases."""
    parts: dict[str, list[float]] = {}
    for value, user in zip(values, users, strict=True):
        if not math.isnan(value):
            parts.setdefault(user, []).append(value)
    return {user: math.fsum(parts[user]) for user in sorted(parts)}
