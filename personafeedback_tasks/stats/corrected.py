"""The win rate of replies behind the votes of a judge, without its errors as far as its calibration set shows them."""

# The plug-in estimator of Lee et al. (arXiv 2511.21140), which is that of Rogan and Gladen (1978): (share of votes -
# false votes) / (sensitivity - false votes). A judge of pairs has no two kinds of cases by itself, since the better
# text may be either one; it errs by length instead. So its calibration set gives a curve, logit P(right) = a + b * log
# length ratio, where the ratio is that of the better text to the other one. A better reply is voted for as often as the
# curve says at the reply's ratio; a worse one as often as the judge is wrong at the other side's. Each case's vote is
# the mean over both orders, in the calibration set too: a preference for a place needs no correction of its own.

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .estimates import Estimate, linearized, percent
from .logistic import fitted

LEAST_ACCURACY = 0.6
"""Below it the votes say little: their distance from one half is multiplied by more than 5."""

LARGEST_GAP = 0.2
"""Of accuracy between pairs whose better text is the longer one and the others. Above it, length decides."""

LEAST_GAIN = 0.15
"""How much more often a better text must be picked than a worse one: what the correction divides by."""

RANGE = (0.05, 0.95)
"""Between these quantiles of the calibration set's log length ratios its curve is known."""

MOST_OUTSIDE = 0.3
"""Share of replies outside of that range up to which the curve is followed beyond it.

A tenth is outside where replies are as long as the calibration set's better texts. Where accuracy levels off or jumps
instead, intervals still hold with a quarter outside, and fail with half.
"""

ROUNDING = 1e-9
"""What sums of shares may be off by."""

LONGER, EQUAL, SHORTER = 1, 0, -1
"""The first text of a pair beside the second: the sign of the log length ratio. EQUAL is also the key of all pairs."""


@dataclass(frozen=True)
class Votes:
    """A judge's votes on pairs of texts. The first text is the better one in a calibration set, the reply in duels."""

    won: Sequence[float]  # share of each case's calls that picked the first text, in [0, 1]
    lost: Sequence[float]  # share that picked the second one; what is left to 1 was unreadable
    longer: Sequence[float]  # log(length of the first text / length of the second)
    users: Sequence[str]
    cells: Sequence[str]
    # share of each case's readable epochs whose calls all picked the same text; nan without one, and for rewards
    consistent: Sequence[float] = ()

    def __len__(self) -> int:
        return len(self.won)


@dataclass(frozen=True)
class Known:
    """Duels that no judge was asked about."""

    won: Sequence[float] = ()  # 0.5 for a reply that equals the other side, 0 for an empty one, 1 against an empty one
    users: Sequence[Any] = ()


NONE = Known()


@dataclass(frozen=True)
class Corrected:
    """What is left of a win rate without the judge's errors.

    Attributes:
        rate: in [0, 1]; None where `why_not` says why there is none.
        unclipped: before it was brought into [0, 1]; nan without an estimate.
        longer: the judge's accuracy in the calibration set where the better text is the longer one.
        shorter: the same where it is the shorter one.
        outside: share of the asked replies whose length is outside of RANGE.
        why_not: a sentence; empty where there is an estimate.
    """

    rate: Estimate | None
    unclipped: float
    longer: float
    shorter: float
    outside: float = math.nan
    why_not: str = ""


@dataclass(frozen=True)
class Errors:
    """A judge's accuracy in a calibration set by the better text's length: LONGER, SHORTER, EQUAL for all pairs."""

    weights: Any  # of each case, so that the cells weigh as much as in the duels; 0 in other cells
    right: Mapping[int, float]  # share of calls that picked the better text, in [0, 1] or nan


def errors(calibration: Votes, cells: Sequence[str]) -> Errors:
    """What a calibration set says of a judge of duels in these cells."""
    import numpy as np  # the extra `report` brings it

    here, there = Counter(calibration.cells), Counter(cells)
    weights = np.array([there[cell] / here[cell] for cell in calibration.cells])
    better, won = np.sign(calibration.longer), np.array(calibration.won, dtype=float)
    right = {}
    for side, part in {LONGER: weights * (better > 0), SHORTER: weights * (better < 0), EQUAL: weights}.items():
        right[side] = float(part / part.sum() @ won) if part.any() else math.nan
    return Errors(weights, right)


def corrected(duels: Votes, calibration: Votes, known: Known = NONE) -> Corrected:
    """The share of the duels that the reply wins; its interval has the errors of the votes and of the calibration set.

    Args:
        calibration: of the same judge, on at least the cells of the duels; its other cells are left out.
    """
    # sum(votes - false votes) / sum(right votes - false votes) over the calls that can be read: the others are votes
    # for neither side, whichever is better. The error is the jackknife over the users of both. The interval is value +-
    # t * stderr, cut off at 0 and 1.
    import numpy as np  # the extra `report` brings it
    from scipy.special import expit

    found = errors(calibration, duels.cells)
    refused = partial(Corrected, None, math.nan, found.right[LONGER], found.right[SHORTER])
    if why_not := _why_not(len(duels), found.right):
        return refused(why_not=why_not)
    here = found.weights > 0
    ratios, replies = np.array(calibration.longer, dtype=float)[here], np.array(duels.longer, dtype=float)
    low, high = np.quantile(ratios, RANGE).tolist()
    outside = float(((replies < low - ROUNDING) | (replies > high + ROUNDING)).mean())
    if outside > MOST_OUTSIDE:
        why_not = (
            f"{percent(outside)} % of the replies are outside {math.exp(low):.2f} to {math.exp(high):.2f} times the "
            "length of the other side, the range of nine in ten better responses in the calibration set: too little "
            f"is known of the judge's errors at other lengths. At most {100 * MOST_OUTSIDE:.0f} % "
            "may be outside."
        )
        return refused(outside=outside, why_not=why_not)

    size = float(np.sqrt((ratios**2).mean())) or 1.0
    right, read = np.array(calibration.won, dtype=float)[here], np.add(calibration.won, calibration.lost)[here]
    right, weights = right / np.where(read > 0, read, 1), found.weights[here] / found.weights[here].mean() * read
    design = np.column_stack([np.ones(len(ratios)), ratios / size])
    won, readable, settled = (
        np.array(duels.won, dtype=float),
        np.add(duels.won, duels.lost),
        np.array(known.won, dtype=float),
    )
    examined, asked, others = (np.array(users, dtype=object) for users in (calibration.users, duels.users, known.users))
    examined = examined[here]

    def estimated(left_out: str | None = None, start: Any = None) -> tuple[float, Any, float]:
        """(rate without a user, curve, how much more often a better reply is picked than a worse one)."""
        of_calibration, of_duels, of_known = (owners != left_out for owners in (examined, asked, others))
        at, _ = fitted(design[of_calibration], right[of_calibration], weights[of_calibration], np.ones(2), start)
        slopes, calls = at[1] / size * replies[of_duels], readable[of_duels]
        false = calls * (1 - expit(at[0] - slopes))
        gain = float((calls * expit(at[0] + slopes) - false).sum())
        rate = float((won[of_duels] - false).sum()) / gain if gain else math.nan
        known_rate, count = settled[of_known], len(calls)
        value = (rate * count + float(known_rate.sum())) / (count + len(known_rate)) if count else math.nan
        return value, at, gain / float(calls.sum()) if gain else 0.0

    value, at, gain = estimated()
    refused = partial(refused, outside=outside)
    if gain < LEAST_GAIN - ROUNDING:
        why_not = (
            f"At these lengths, the judge picks a better reply only {100 * gain:.1f} points more often than a worse "
            f"one; at least {100 * LEAST_GAIN:.0f} points are needed."
        )
        return refused(why_not=why_not)
    users = sorted({*examined, *asked, *others})
    without = [estimated(user, at)[0] for user in users]
    center = math.fsum(without) / len(users)
    moves = {user: (center - one) * (len(users) - 1) / len(users) for user, one in zip(users, without, strict=True)}
    return _bounded(value, moves, len(won) + len(settled), refused())


def _bounded(value: float, moves: Mapping[str, float], cases: int, without: Corrected) -> Corrected:
    made = linearized(value, moves, cases)
    if made.low > 1 or made.high < 0:
        why_not = (
            f"It comes to {percent(value)} %, and its whole interval ({percent(made.low)} % to {percent(made.high)} %) "
            "is outside of what is possible: the judge does not err here as in its calibration set."
        )
        return replace(without, unclipped=value, why_not=why_not)
    return replace(without, rate=made.within(0.0, 1.0), unclipped=value)


def _why_not(duels: int, rights: Mapping[int, float]) -> str:
    if not duels:
        return "No duel was asked."
    if rights[EQUAL] < LEAST_ACCURACY - ROUNDING:
        return (
            f"The judge is right in {percent(rights[EQUAL])} % of its calibration set, which is below "
            f"{percent(LEAST_ACCURACY)} %: its votes say too little."
        )
    longer, shorter = rights[LONGER], rights[SHORTER]
    for right, name in ((longer, "longer"), (shorter, "shorter")):
        if math.isnan(right):
            return (
                f"The calibration set has no pair whose better response is the {name} one, so the judge's errors there "
                "are unknown."
            )
    if abs(longer - shorter) > LARGEST_GAP + ROUNDING:
        return (
            f"The judge is right in {percent(longer)} % of the calibration set's pairs whose better response is the "
            f"longer one and in {percent(shorter)} % of those whose better response is the shorter, more than "
            f"{100 * LARGEST_GAP:.0f} points apart: its votes follow the length."
        )
    return ""
