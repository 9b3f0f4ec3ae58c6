"""p values by exchanging whole users between runs: flipping the sign of a paired difference, or of a family; permuting several runs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import nan

from .statistics import user_sums

RESAMPLES = 9_999
"""Random flips behind a p value. Up to 13 users have fewer flips than that, and all of them are tried."""

SEED = 20250615
"""The flips are the same in every call, so the same results have the same p value."""

CLOSE = 1e-9
"""Two flips whose statistics differ by less, relative to them, are equal: sums in another order."""

CHUNK = 500
"""Flips that are tried at a time, to bound the memory."""


def sign_flip_p(differences: Sequence[float], users: Sequence[str], resamples: int = RESAMPLES) -> float:
    """Two-sided permutation p value of "the two runs are equally good for these users", in (0, 1].

    If so, a user's summed difference could as well have had the opposite sign. Whole users flip: flipping single
    cases would take the correlation within users for evidence, and reject far too often.

    Args:
        differences: one paired difference per case; nan is left out. Without a defined one the p value is nan.
        users: the user of each case.
        resamples: see `familywise_p`.
    """
    sums = list(user_sums(differences, users).values())
    return familywise_p([sums], resamples)[0] if sums else nan


def familywise_p(sums: Sequence[Sequence[float]], resamples: int = RESAMPLES) -> list[float]:
    """p values of several differences, each in (0, 1]: the chance of any false one below a level is at most that level.

    Every flip of the users is applied to all differences at once, and each |t| is compared with the largest |t| of the family
    under the same flip (single-step maxT: Westfall and Young 1993, section 2.3; Romano and Wolf 2005). So the smallest p does
    not depend on how many differences there are, as it does where p values are multiplied by their number. For a single
    difference it is the plain sign-flip test: a flip changes |t| as it changes the absolute sum.

    Args:
        sums: difference -> one summed difference per user, the same users in each; at least one user.
        resamples: number of random flips. All flips are tried where there are no more, and p is exact.
    """
    import numpy as np  # the extra `report` brings it

    table = np.array(sums, dtype=float)
    users = table.shape[1]
    # |sum| / sqrt(sum of squares): t grows with it, alike for every difference, and flips leave the squares alone.
    norm = np.sqrt((table**2).sum(axis=1))
    scaled = (table / np.where(norm > 0, norm, 1)[:, None]).T
    least = np.abs(scaled.sum(axis=0)) * (1 - CLOSE)
    if exact := 2**users <= resamples:
        # A flip and its opposite have the same |t|: the first user keeps its sign.
        flips = np.array([(1, *rest) for rest in itertools.product((1, -1), repeat=users - 1)], dtype=float)
    else:
        flips = 2.0 * np.random.default_rng(SEED).integers(2, size=(resamples, users)) - 1
    reached = np.zeros(len(table), dtype=int)
    for start in range(0, len(flips), CHUNK):
        largest = np.abs(flips[start : start + CHUNK] @ scaled).max(axis=1)
        reached += (largest[:, None] >= least).sum(axis=0)
    count = reached / len(flips) if exact else (1 + reached) / (1 + len(flips))
    return [float(p) for p in count]


PERMUTATIONS = 999
"""Random permutations behind the range of several runs."""


def range_by_chance(sums: Sequence[Sequence[float]]) -> tuple[float, float]:
    """(mean range, p) of the totals of runs that are equally good: each user's values could as well have come in another order.

    Args:
        sums: run -> one sum per user, the same users in each.

    Returns:
        The mean over PERMUTATIONS of the largest minus the smallest total, in the unit of the sums; and the share of them, the observed
        one included, whose range is at least the observed one, in (0, 1].
    """
    import numpy as np

    table = np.array(sums, dtype=float)
    rng = np.random.default_rng(SEED)
    ranges = np.array([np.ptp(rng.permuted(table, axis=0).sum(axis=1)) for _ in range(PERMUTATIONS)])
    reached = (ranges >= np.ptp(table.sum(axis=1)) * (1 - CLOSE)).sum()
    return float(ranges.mean()), float((1 + reached) / (1 + PERMUTATIONS))
