"""The win rate of replies behind the votes of a judge that errs: what its exam says of its errors is taken out.

The plug-in estimator of Lee et al. (arXiv 2511.21140), which is that of Rogan and Gladen (1978):
(share of votes - false votes) / (sensitivity - false votes). A judge of pairs has no two kinds of cases by itself, since the better
text may be either one; it errs by length instead. So its exam is read apart where the better text is the longer one and
where it is the shorter: where a reply is the longer side, a better reply is voted for as often as the longer text is when it
is better, and a worse one as often as the longer text is when the shorter is better. Each case's vote is the mean over both
orders, in the exam too, which is why a preference for a place needs no correction of its own.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

from .statistics import Cluster, Estimate, by_user, linearized

LEAST_ACCURACY = 0.6
"""Below it the votes say little: their distance from one half is multiplied by more than 5."""

LARGEST_GAP = 0.2
"""Between pairs whose better text is the longer one and the others. Above it, the length decides rather than the quality."""


LEAST_GAIN = 0.15
"""How much more often a better text must be picked than a worse one: what the correction divides by."""

ROUNDING = 1e-9
"""What sums of shares may be off by."""

LONGER, EQUAL, SHORTER = 1, 0, -1
"""The first text of a pair beside the second. Equal: a judge of these errs as in the whole exam."""


@dataclass(frozen=True)
class Votes:
    """A judge's votes on pairs of texts: an exam, where the first text is the better one, or duels, where it is the reply.

    Attributes:
        won: share of each case's calls that picked the first text, in [0, 1].
        lost: share that picked the second one; what is left to 1 was unreadable.
        longer: LONGER, EQUAL or SHORTER: the length of the first text beside that of the second.
        users: the user of each case.
        cells: the cell of each case.
        prompts: the prompt of each case where users share prompts; else none.
    """

    won: Sequence[float]
    lost: Sequence[float]
    longer: Sequence[int]
    users: Sequence[str]
    cells: Sequence[str]
    prompts: Sequence[str] = ()

    @property
    def clusters(self) -> Sequence[Cluster]:
        """What the errors of a case are alike in."""
        return list(zip(self.users, self.prompts, strict=True)) if self.prompts else self.users

    def __len__(self) -> int:
        return len(self.won)


@dataclass(frozen=True)
class Known:
    """Duels that no judge was asked about.

    Attributes:
        won: 0.5 for a reply that equals the other side, 0 for an empty one, 1 against an empty one.
        users: the user of each, or what else `Votes.clusters` has.
    """

    won: Sequence[float] = ()
    users: Sequence[Any] = ()


NONE = Known()


@dataclass(frozen=True)
class Corrected:
    """What is left of a win rate without the judge's errors.

    Attributes:
        rate: the estimate, in [0, 1]; None where `why_not` says why there is none.
        unclipped: before it was brought into [0, 1]; nan without an estimate.
        longer, shorter: the judge's accuracy in the exam where the better text is the longer one, and the shorter.
        why_not: a sentence; empty where there is an estimate.
        moves: see `statistics.by_user`.
    """

    rate: Estimate | None
    unclipped: float
    longer: float
    shorter: float
    why_not: str = ""
    moves: Mapping[Cluster, float] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Errors:
    """What an exam says of a judge, by the length of the better text: LONGER, SHORTER, and EQUAL for the whole exam.

    Attributes:
        weights: of each case, so that the cells weigh as much as in the duels; 0 in other cells.
        parts: the same of the cases of each side, which sum to 1; nan where there are none.
        right, wrong: share of calls that picked the better text, and the other one, in [0, 1] or nan.
    """

    weights: Any
    parts: Mapping[int, Any]
    right: Mapping[int, float]
    wrong: Mapping[int, float]


def errors(exam: Votes, cells: Sequence[str], of_duels: Sequence[float] | None = None) -> Errors:
    """What an exam says of a judge of duels.

    Args:
        cells: the cell of each duel.
        of_duels: the weight of each duel; None if all weigh 1.
    """
    import numpy as np  # the extra `report` brings it

    here, there = Counter(exam.cells), defaultdict[str, float](float)
    for cell, weight in zip(cells, repeat(1) if of_duels is None else of_duels, strict=False):
        there[cell] += weight
    weights = np.array([there[cell] / here[cell] for cell in exam.cells])
    better = np.array(exam.longer)
    parts = {side: weights * (better == side) for side in (LONGER, SHORTER)} | {EQUAL: weights}
    parts = {side: part / part.sum() if part.any() else part * math.nan for side, part in parts.items()}
    won, lost = np.array(exam.won, dtype=float), np.array(exam.lost, dtype=float)
    return Errors(
        weights,
        parts,
        {side: float(part @ won) for side, part in parts.items()},
        {side: float(part @ lost) for side, part in parts.items()},
    )


def corrected(duels: Votes, exam: Votes, known: Known = NONE) -> Corrected:
    """The share of the duels that the reply wins, with an interval that has both errors: of the votes, and of the exam.

    The error is that of the first-order expansion, summed over each user's duels and cases of the exam. Most users are in
    both, so the sum has their covariance, too. The interval is value +- t * stderr, cut off at 0 and 1.

    Args:
        duels: the votes on the replies.
        exam: of the same judge, on at least the cells of the duels; its other cells are left out.
        known: the duels that were not asked.
    """
    return _corrected(duels, exam, known, _why_not)


def corrected_share(said: Votes, exam: Votes, known: Known = NONE) -> Corrected:
    """The share of cases of which something is so, from what a judge says of each: the estimator of Rogan and Gladen.

    Args:
        said: won: what the judge says of each case; all of them LONGER.
        exam: of the same judge, where it is known: won: whether the judge is right; LONGER where it is so, SHORTER where it is not; lost: 1 - won.
            `Corrected.longer` is then the judge's sensitivity, `Corrected.shorter` its specificity.
        known: further cases, of which it is known whether it is so.
    """
    return _corrected(said, exam, known, _no_share)


def _corrected(duels: Votes, exam: Votes, known: Known, refused: WhyNot) -> Corrected:
    import numpy as np

    found = errors(exam, duels.cells)
    right, wrong = found.right, found.wrong
    gains = {side: right[side] - wrong[-side] for side in right}
    if why_not := refused(len(duels), right, gains):
        return Corrected(None, math.nan, right[LONGER], right[SHORTER], why_not)

    # One duel's vote without the errors lies outside [0, 1]: only the mean over duels says something.
    sides, votes = np.array(duels.longer), np.array(duels.won, dtype=float)
    for side, gain in gains.items():
        votes[sides == side] = (votes[sides == side] - wrong[-side]) / gain
    cases = np.concatenate([votes, known.won])
    value = float(cases.mean())
    moved = np.zeros(len(exam))
    for side, gain in gains.items():
        if (there := sides == side).any():
            share, won = there.sum() / len(cases), float(votes[there].mean())
            moved -= share * won / gain * found.parts[side] * (np.array(exam.won) - right[side])
            moved -= share * (1 - won) / gain * found.parts[-side] * (np.array(exam.lost) - wrong[-side])
    examined = [
        one for one, weight in zip(zip(exam.clusters, moved, strict=True), found.weights, strict=True) if weight
    ]
    asked = zip((*duels.clusters, *known.users), (cases - value) / len(cases), strict=True)
    moves = by_user([*asked, *examined])
    made = linearized(value, moves, len(cases))
    if made.low > 1 or made.high < 0:
        why_not = (
            f"It comes to {_percent(value)}, and its whole interval ({_percent(made.low)} to {_percent(made.high)}) is outside of what is "
            "possible: the judge does not err here as in its exam."
        )
        return Corrected(None, value, right[LONGER], right[SHORTER], why_not)
    low, high, clipped = (
        min(max(end, 0.0), 1.0) for end in (made.low, made.high, value)
    )  # in this order nan stays nan
    rate = replace(made, value=clipped, low=low, high=high)
    return Corrected(rate, value, right[LONGER], right[SHORTER], moves=moves)


def _why_not(duels: int, rights: Mapping[int, float], gains: Mapping[int, float]) -> str:
    """Why votes cannot be corrected with such an exam; empty if they can."""
    if not duels:
        return "No duel was asked."
    if rights[EQUAL] < LEAST_ACCURACY - ROUNDING:
        return (
            f"The judge is right in {_percent(rights[EQUAL])} of its exam, which is below {_percent(LEAST_ACCURACY)}: "
            "its votes say too little."
        )
    for side, name in ((LONGER, "longer"), (SHORTER, "shorter")):
        if math.isnan(rights[side]):
            return f"The exam has no pair whose better response is the {name} one, so the judge's errors there are unknown."
    longer, shorter = rights[LONGER], rights[SHORTER]
    if abs(longer - shorter) > LARGEST_GAP + ROUNDING:
        return (
            f"The judge is right in {_percent(longer)} of the exam's pairs whose better response is the longer one and in "
            f"{_percent(shorter)} of those whose better response is the shorter, more than {100 * LARGEST_GAP:.0f} points "
            "apart: its votes follow the length."
        )
    # Unreadable answers make the gains of the two sides differ; each of them divides the votes of its side.
    if (gain := min(gains.values())) < LEAST_GAIN - ROUNDING:
        return (
            f"Among longer or among shorter texts, the judge picks a better one only {100 * gain:.1f} points more often than a worse one; "
            f"at least {100 * LEAST_GAIN:.0f} points are needed."
        )
    return ""


WhyNot = Callable[[int, Mapping[int, float], Mapping[int, float]], str]
"""(number of cases, accuracy by side, gain by side) -> why nothing can be corrected; empty if it can."""


def _no_share(cases: int, rights: Mapping[int, float], gains: Mapping[int, float]) -> str:
    """The same of a share."""
    if not cases:
        return "No case was asked."
    for side, name in ((LONGER, "is so"), (SHORTER, "is not so")):
        if math.isnan(rights[side]):
            return f"The exam has no case of which it {name} to people, so the judge's errors there are unknown."
    if gains[LONGER] < LEAST_GAIN - ROUNDING:
        return (
            f"In its exam the judge says so only {100 * gains[LONGER]:.1f} points more often where it is so than where it is not; at least "
            f"{100 * LEAST_GAIN:.0f} are needed."
        )
    return ""


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
