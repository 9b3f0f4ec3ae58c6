"""The win rate at equal length: what the votes come to where neither side is the longer one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .adjusted import LEAST_SHARE, at_zero
from .statistics import Estimate, share

MATCHED = 0.1
"""Lengths of a matched pair differ by at most this share of the shorter one."""


@dataclass(frozen=True)
class LengthAdjusted:
    """A win rate, without what the judge gives for length.

    Attributes:
        rate: at equal length, in [0, 1]; None where too few replies are on one side of it.
        shorter, longer: shares of the replies that are shorter than the other side, and longer.
        matched: the plain win rate among pairs of nearly equal length, where there are any.
    """

    rate: Estimate | None
    shorter: float
    longer: float
    matched: Estimate


def length_adjusted(won: Sequence[float], log_ratios: Sequence[float], users: Sequence[str]) -> LengthAdjusted:
    """Logistic regression of the votes on tanh(log length ratio / its standard deviation), read at 0.

    After AlpacaEval 2 (Dubois et al., arXiv 2404.04475), which has the difference of the lengths there and further terms. A
    ratio takes 100 characters for much in a short reply and for little in a long one; tanh keeps a very long one from
    deciding the slope.

    Args:
        won: the votes for the replies, in [0, 1].
        log_ratios: log(length of the reply / length of the other side).
    """
    if not won:
        nothing = Estimate(math.nan, math.nan, math.nan, math.nan, 0, 0)
        return LengthAdjusted(None, math.nan, math.nan, nothing)
    count = len(log_ratios)
    shorter, longer = sum(x < 0 for x in log_ratios) / count, sum(x > 0 for x in log_ratios) / count
    near = [place for place, x in enumerate(log_ratios) if abs(x) <= math.log1p(MATCHED) + 1e-12]
    matched = share([won[place] for place in near], [users[place] for place in near])
    if min(shorter, longer) < LEAST_SHARE:
        return LengthAdjusted(None, shorter, longer, matched)
    center = math.fsum(log_ratios) / count
    spread = math.sqrt(math.fsum((x - center) ** 2 for x in log_ratios) / count)
    rate = at_zero(won, [math.tanh(x / spread) for x in log_ratios], users)
    return LengthAdjusted(rate, shorter, longer, matched)
