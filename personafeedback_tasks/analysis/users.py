"""For whom does it fail? How far the users' own accuracies differ, and whether those who share an attribute do better or worse.

Nobody is named. Users have few cases, and not the same cells: some have easy ones only. So every value is taken against the
mean of its cell, and what is said of a user is at the run's own mix of cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..common.significance import detectable, holm, two_sided_p
from ..common.statistics import LEVEL, Estimate, critical, mean
from .user_distribution import PERCENTS, Fitted, fit, quantiles

FEW_USERS = 20
"""Below this number of users a report warns of its intervals."""

SHARED_BY = 20
"""Users who must share an attribute, and who must not, for it to be tested."""


@dataclass(frozen=True)
class Slice:
    """The users who share an attribute, beside all others.

    Attributes:
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
    """
    raw = _of_user(values, users)
    if len(raw) < FEW_USERS or all(len(found) == 1 for found in raw.values()):
        return None
    fitted = fit(_of_user(at_equal_cells(values, cells), users))
    *at_percents, worst_tenth = quantiles(fitted)
    return Users(
        count=len(raw),
        worst_tenth=worst_tenth,
        quantiles=dict(zip(map(str, PERCENTS), at_percents, strict=True)),
        raw=dict(zip(map(str, PERCENTS), _raw_quantiles([mean(own) for own in raw.values()]), strict=True)),
        spread=math.sqrt(fitted.variance),
        low=math.sqrt(fitted.low),
        high=math.sqrt(fitted.high),
        slices=slices(fitted, people),
    )


def at_equal_cells(values: Sequence[float], cells: Sequence[str]) -> list[float]:
    """Each value minus the mean of its cell plus the mean of all."""
    in_cell: dict[str, list[float]] = {}
    for value, cell in zip(values, cells, strict=True):
        in_cell.setdefault(cell, []).append(value)
    means, middle = {cell: mean(found) for cell, found in in_cell.items()}, mean(values)
    return [value - means[cell] + middle for value, cell in zip(values, cells, strict=True)]


def slices(found: Fitted, people: Mapping[str, Mapping[str, str]]) -> tuple[Slice, ...]:
    """Every slice that SHARED_BY users share and as many do not, the smallest p first, with p corrected by Holm's method
    so that a false one is named in at most 5 % of reports. Of two values that part the users in the same way, such as two genders, the first is tested.

    Args:
        people: user -> attribute -> value; a user without an attribute is not among the others of its slices.
    """
    tested: dict[frozenset[frozenset[str]], Slice] = {}
    errors: dict[frozenset[frozenset[str]], tuple[float, float]] = {}
    for attribute, value in sorted({item for user in found.means for item in people.get(user, {}).items()}):
        having = [user for user in found.means if attribute in people.get(user, {})]
        inside = [user for user in having if people[user][attribute] == value]
        others = [user for user in having if people[user][attribute] != value]
        parted = frozenset((frozenset(inside), frozenset(others)))
        if min(len(inside), len(others)) >= SHARED_BY and parted not in tested:
            difference, stderr, degrees = _difference(
                *([found.means[user] for user in some] for some in (inside, others))
            )
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


def _difference(inside: Sequence[float], others: Sequence[float]) -> tuple[float, float, float]:
    """(mean of some users' means minus that of others, its standard error, the degrees of freedom of that), after Welch (1947).

    Each group has a spread of its own: with a common one, a group whose users differ more than the others is named in 12 to 33 % of reports
    where there is no difference.
    """
    centers = [mean(some) for some in (inside, others)]
    parts = [
        math.fsum((one - center) ** 2 for one in some) / (len(some) - 1) / len(some)
        for some, center in zip((inside, others), centers, strict=True)
    ]
    total = math.fsum(parts)
    degrees = len(inside) + len(others) - 2.0
    if total > 0:
        degrees = total**2 / sum(part**2 / (len(some) - 1) for part, some in zip(parts, (inside, others), strict=True))
    return centers[0] - centers[1], math.sqrt(total), degrees


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
