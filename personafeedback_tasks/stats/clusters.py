"""Which cases succeed and fail together, and the variance of an estimate over such cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

FEWEST = 6.0
"""Degrees of freedom of a variance that a single user decides."""


Names = Sequence[Hashable]
"""The user, cell or prompt of each case."""


@dataclass(frozen=True)
class Clusters:
    """Which cases are alike, in numbers from 0 on; `clusters[places]` are those of some cases.

    Attributes:
        users: sides x cases, the user of each case; of cases about two users, the second one on another side.
        prompts: one per case; all the same where users share none.
        cells: one per case, for the plain mean of the cells' means; all the same where each case weighs the same.
    """

    users: Any
    prompts: Any
    cells: Any

    @classmethod
    def of(cls, users: Names | Clusters, prompts: Names = (), cells: Names = (), partners: Names = ()) -> Clusters:
        """Number these names. A user has the same number on either side. Clusters are returned as they are."""
        if isinstance(users, Clusters):
            return users
        import numpy as np  # the extra `report` brings it

        sides = numbered([*users, *partners]).reshape(2 if len(partners) else 1, len(users))
        same = np.zeros(len(users), dtype=int)
        return cls(sides, *(numbered(names) if len(names) else same for names in (prompts, cells)))

    def __getitem__(self, places: Any) -> Clusters:
        return Clusters(self.users[:, places], self.prompts[places], self.cells[places])

    @property
    def count(self) -> int:
        """Number of users that have a case."""
        return len({*self.users[0].tolist()})

    @cached_property
    def prompt_count(self) -> int:
        """Number of prompts."""
        return len({*self.prompts.tolist()})


Alike = Names | Clusters
"""The user of each case; or all that makes cases alike, and how they weigh."""


def numbered(names: Names) -> Any:
    """The number of each name, from 0 in the order in which names occur first."""
    import numpy as np  # the extra `report` brings it

    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=int)


def shared_variance(variance: Callable[[Any], float], clusters: Clusters) -> float:
    """The variance where cases are alike that share a user or a prompt.

    Args:
        variance: its value with some clusters alone: the number of each case's, or sides x cases, a case being in
            those of all sides. Where that is nan for users, prompts or pairs, so is the result.
    """
    # That of users + that of prompts - that of what is in both (Cameron, Gelbach, Miller 2011), and at least either of
    # the first two, since the difference may be too small with few clusters.
    #
    # With a second user, that of users is dyadic (Aronow, Samii, Assenova 2015): over the cases that have a user in
    # common, those with both in common counted once. This difference is taken as it is: in simulations a least value
    # makes intervals too long. Where it is not above 0, users and prompts are added up and nothing is subtracted, which
    # is never too small.
    users, prompts = clusters.users, clusters.prompts
    several = clusters.prompt_count > 1
    of_users, of_prompts = variance(users), variance(prompts) if several else 0.0

    def with_prompts(others: Any) -> float:
        return variance(_pairs(others, prompts)) if several else 0.0

    if len(users) == 1:
        both = of_users + of_prompts - with_prompts(users)
        return both if math.isnan(both) else max(of_users, of_prompts, both)
    twice = _pairs(users.min(axis=0), users.max(axis=0))
    found = of_users - variance(twice) + of_prompts - with_prompts(users) + with_prompts(twice)
    return of_users + of_prompts if found <= 0 else found


def _pairs(some: Any, others: Any) -> Any:
    import numpy as np

    codes = some * (others.max(initial=0) + 1) + others
    return np.unique(codes, return_inverse=True)[1].reshape(codes.shape)


def cluster_sums(moves: Any, numbers: Any) -> list[float]:
    """The sum of each cluster's values, in the order of numbers; nan is left out.

    Args:
        moves: one per case.
        numbers: of the clusters, as in `shared_variance`.
    """
    import numpy as np

    if numbers.shape[-1] != len(moves):
        raise ValueError(f"found {numbers.shape[-1]} users or prompts, expected one for each of {len(moves)} values")
    defined = ~np.isnan(moves)
    numbers = numbers[..., defined]
    weights, numbers = np.broadcast_to(moves[defined], numbers.shape).ravel(), numbers.ravel()
    found: list[float] = np.bincount(numbers, weights)[np.bincount(numbers) > 0].tolist()
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
