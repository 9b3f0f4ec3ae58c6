"""Confidence sequences over users: intervals that hold at every user at once, so one may look after each and stop."""

# The target is the ratio of the means of what users add up to and of their numbers of cases, as in any mean over cases.
# Users come in random order. Each sequence is the set of values that no user so far has excluded, as an interval; a
# value that is excluded once stays out.

from __future__ import annotations

import math
from collections.abc import Sequence

from .estimates import CONFIDENCE

STEP = 0.001
"""Distance of the values that are tried; an interval is rounded outward to them."""

MOST_BET = 0.9
"""Largest share of the capital that `betting` can lose at one user."""

Intervals = list[tuple[float, float]]


def betting(
    sums: Sequence[float], counts: Sequence[int], low: float, most: int, level: float = CONFIDENCE
) -> Intervals:
    """The interval in [low, 1] after each user, for any bounded values: accuracies, or differences with much skew.

    Args:
        sums: of the values of each user's cases, each in [low, 1].
        low: 0 for accuracies, -1 for differences.
        most: cases of the user with most of them in the data, known before the run.
    """
    # Hedged capital with predictable bets (Waudby-Smith, Ramdas 2024, JRSS B 86, section 4.2, their PrPl-hedged): for
    # each value two gamblers bet that the mean is above it and below it, with half of the capital each; a value is
    # excluded where one of them has made its half 2 / (1 - level) times as large.
    import numpy as np

    values, needed = np.linspace(low, 1, round((1 - low) / STEP) + 1), math.log(2 / (1 - level))
    totals, cases = np.asarray(sums, float), np.asarray(counts, float)
    scaled = (totals[:, None] - cases[:, None] * values) / most  # users x values
    # of what is known before a user: the mean, and how far users lie from it, with one guess in front
    number = np.arange(1, len(totals) + 1)
    means = ((1 + low) / 2 * most + np.cumsum(totals)) / (most + np.cumsum(cases))
    squares = ((totals - means * cases) / most) ** 2
    variances = (0.25 * (1 - low) ** 2 + np.concatenate([[0], np.cumsum(squares)[:-1]])) / number
    bets = np.sqrt(2 * needed / (variances * number * np.log(1 + number)))[:, None]
    with np.errstate(divide="ignore"):
        above = np.cumsum(np.log1p(np.minimum(bets, MOST_BET / (values - low)) * scaled), axis=0)
        below = np.cumsum(np.log1p(np.minimum(bets, MOST_BET / (1 - values)) * -scaled), axis=0)
    left = ~np.logical_or.accumulate(np.maximum(above, below) > needed, axis=0)
    intervals: Intervals = []
    for row in left:
        (places,) = np.nonzero(row)
        if len(places):  # rounded outward
            first, last = max(places[0] - 1, 0), min(places[-1] + 1, len(values) - 1)
            intervals.append((float(values[first]), float(values[last])))
        else:  # where nothing is left, what was left last
            intervals.append(intervals[-1] if intervals else (float(values[0]), float(values[-1])))
    return intervals


def decided(interval: tuple[float, float], margin: float) -> str | None:
    """What an interval settles about 0: `above`, `below`, `within` the margin on both sides of it, or None so far."""
    low, high = interval
    if low > 0:
        return "above"
    if high < 0:
        return "below"
    return "within" if -margin <= low and high <= margin else None
