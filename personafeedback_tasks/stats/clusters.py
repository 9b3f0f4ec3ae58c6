"""Which cases succeed and fail together, and the variance of an estimate over such cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

FEWEST = 6.0
"""Degrees of freedom of a variance that a single user decides."""


Names = Sequence[Hashable]
"""The user, cell or prompt of each case."""


@dataclass(frozen=True)
class Shared:
    """What makes cases alike beside their user: a prompt, or any user in common, on either side."""

    prompts: Names
    partners: Names = ()  # a second user that each case is about; empty where it is about its user alone


Clusters = Sequence[Names]
"""The cluster of each case, or two of each: a case is in both."""


def shared_variance(variance: Callable[[Clusters], float], users: Names, also: Shared | None) -> float:
    """The variance where cases are alike that share a user or a prompt.

    Args:
        variance: its value with these clusters alone. Where that is nan for users, prompts or pairs, so is the result.
    """
    # That of users + that of prompts - that of what is in both (Cameron, Gelbach, Miller 2011), and at least either of
    # the first two, since the difference may be too small with few clusters.
    #
    # With partners, that of users is dyadic (Aronow, Samii, Assenova 2015): over the cases that have a user in common,
    # those with both in common counted once. This difference is taken as it is: in simulations a least value makes
    # intervals too long. Where it is not above 0, users and prompts are added up and nothing is subtracted, which is
    # never too small.
    several = also is not None and len(set(also.prompts)) > 1
    if also is None or not (several or len(also.partners)):
        return variance([users])
    sides = sides_of(users, also)
    of_users, of_prompts = variance(sides), variance([also.prompts]) if several else 0.0

    def with_prompts(clusters: Clusters) -> float:
        return variance([list(zip(side, also.prompts, strict=True)) for side in clusters]) if several else 0.0

    if not len(also.partners):
        both = of_users + of_prompts - with_prompts(sides)
        return both if math.isnan(both) else max(of_users, of_prompts, both)
    twice = [[frozenset(pair) for pair in zip(*sides, strict=True)]]
    found = of_users - variance(twice) + of_prompts - with_prompts(sides) + with_prompts(twice)
    return of_users + of_prompts if found <= 0 else found


def sides_of(users: Names, also: Shared | None) -> Clusters:
    """The users of each case."""
    return [users, also.partners] if also is not None and len(also.partners) else [users]


def numbered(*sides: Names) -> Any:
    """The number of each name, side after side, from 0 in the order in which names occur first; numbers stay."""
    import numpy as np

    if isinstance(sides[0], np.ndarray):
        return np.concatenate(sides)
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in chain(*sides)], dtype=int)


def cluster_sums(moves: Any, clusters: Clusters) -> list[float]:
    """The sum of each cluster's values, in the order of `numbered`; nan is left out."""
    import numpy as np

    numbers, moves = numbered(*clusters), np.tile(moves, len(clusters))
    if len(numbers) != len(moves):
        raise ValueError(f"found {len(numbers)} users or prompts, shorter or longer than the {len(moves)} values")
    defined = ~np.isnan(moves)
    numbers = numbers[defined]
    sums = np.bincount(numbers, weights=moves[defined])
    found: list[float] = sums[np.bincount(numbers) > 0].tolist()
    return found


def stderr_of_sum(deviations: Collection[float]) -> float:
    """Standard error of the sum of the deviations of independent clusters; nan with fewer than two."""
    count = len(deviations)
    return math.sqrt(sum(d * d for d in deviations) * count / (count - 1)) if count > 1 else math.nan


def degrees_of_freedom(deviations: Collection[float]) -> float:
    """Degrees of freedom of the variance of some users' deviations, at most C - 1 for C users."""
    # 2 C / (kurtosis - 1) - 1 (Satterthwaite), which is 1 where one user has all of the deviations. It is not let fall
    # below FEWEST, smoothly: with one degree of freedom t is 12.7, and a single event would say that anything is
    # possible.
    count = len(deviations)
    squares = [d * d for d in deviations]
    spread, fourth = sum(squares) ** 2, sum(square * square for square in squares)
    if count * fourth <= spread and spread:
        return count - 1.0
    shown = 2 * count / (count * fourth / spread - 1) - 1 if spread else 0.0
    return min(count - 1.0, math.hypot(FEWEST, max(shown, 0.0)))
