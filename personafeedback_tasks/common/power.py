"""How many cases show a difference: the minimum detectable difference, before there are any results.

`significance.minimum_detectable_difference` takes the standard error from two runs. Here it comes from assumptions: the
variance of a case's value, and the correlation between the cases of a user, which makes n cases worth n / design effect
(Kish 1965): 1 + correlation * (sum(m ** 2) / n - 1) for users with m cases each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .significance import detectable

POWER = 0.8
"""Share of benchmarks in which a true difference of that size is significant."""


@dataclass(frozen=True)
class Comparison:
    """How two runs are compared, and what is assumed of them.

    Attributes:
        name: for readers.
        variance: of a case's value: of the paired difference, or of one run's accuracy.
        correlation: between two cases of a user.
        paired: whether both runs have the same cases; if not, each has as many of its own, and two errors add up.
    """

    name: str
    variance: float
    correlation: float
    paired: bool = True

    def stderr(self, sizes: Iterable[int]) -> float:
        """Standard error of the difference.

        Args:
            sizes: the number of cases of each user, at least one.
        """
        sizes = list(sizes)
        return self._stderr(sum(sizes), sum(size * size for size in sizes))

    def smallest(self, sizes: Iterable[int], power: float = POWER, tests: int = 1) -> float:
        """The smallest difference that is significant with probability `power`; nan with fewer than two users.

        Args:
            sizes: the number of cases of each user, at least one.
            power: in [0.5, 1).
            tests: number of comparisons that share the level (Bonferroni, an upper bound for `rank`'s test of all pairs at once).
        """
        sizes = list(sizes)
        return detectable(self.stderr(sizes), self._degrees(len(sizes)), power, tests)

    def needed(self, steps: Iterable[Iterable[str]], difference: float) -> int | None:
        """How many steps show a difference; None if all of them do not.

        Args:
            steps: the users of the cases that each step of a growing run adds.
        """
        sizes: Counter[str] = Counter()
        squares, reached = 0, detectable(1.0, self._degrees(0), POWER)
        for number, users in enumerate(steps, start=1):
            before = len(sizes)
            for user in users:
                squares += 2 * sizes[user] + 1
                sizes[user] += 1
            if len(sizes) > before:
                reached = detectable(1.0, self._degrees(len(sizes)), POWER)
            if reached * self._stderr(sizes.total(), squares) <= difference:
                return number
        return None

    def _stderr(self, n: int, squares: int) -> float:
        runs = 1 if self.paired else 2
        return (runs * self.variance * (n + self.correlation * (squares - n))) ** 0.5 / n

    def _degrees(self, users: int) -> int:
        """Degrees of freedom of the standard error: those of one set of users, or of two."""
        return (users - 1) * (1 if self.paired else 2)
