"""When to believe a judge: a threshold on its certainty, from an exam, that keeps a promise about its errors.

A verdict is accepted where the judge's certainty is at least the threshold; else the judge abstains. Certainty is the probability of
the text that it picks, averaged over both orders, as in SCOPE (arXiv 2602.13110), or the agreement of its calls. Two promises, which differ:

- *Answered and wrong*: of all cases of a new user, the expected share that is accepted and wrong is at most the risk. This loss only
  falls as the threshold rises, so conformal risk control holds (Angelopoulos, Bates, Fisch, Lei, Schuster 2024, ICLR, arXiv
  2208.02814, theorem 1): with C exchangeable users and losses in [0, 1], the smallest threshold with
  (C * mean loss + 1) / (C + 1) <= risk keeps E[loss of user C + 1] <= risk. The expectation is over the exam, too: the promise
  holds on average over exams, for any distribution and any C, and needs C >= 1 / risk - 1.
- *Wrong among answered*: of a user's accepted verdicts, the expected share that is wrong, over users with such, is at most the risk. This
  share may rise with the threshold, so each threshold is tested (Learn then Test: Angelopoulos, Bates, Candes, Jordan, Lei 2021,
  arXiv 2110.01052). With x = share - risk, and 0 for a user without an accepted verdict, the promise is broken if and only if E[x] > 0.
  Then each product over users of 1 - bet * x, with 0 <= bet < 1 / (1 - risk), has an expectation of at most 1 (betting:
  Waudby-Smith, Ramdas 2024, JRSS B 86), so has the mean of several such products, and by Markov's inequality its inverse is a p value
  at any C. Thresholds are tested in a fixed sequence, each at `1 - LEVEL`, up to the first that is not rejected: in at least
  95 % of exams no threshold that was let through breaks the promise. Where the sequence begins is read from other users.

The user is the unit: cases of one user may depend on each other in any way.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .corrected import ROUNDING
from .statistics import LEVEL

BETS = (0.25, 0.5, 0.75, 0.95)
"""Shares of the largest bet, 1 / (1 - risk), at which a user without a right verdict takes all."""

STEPS = 20
"""Most thresholds that are tested."""


@dataclass(frozen=True)
class Judged:
    """Verdicts of a judge in an exam.

    Attributes:
        certainty: of each verdict, in [0, 1]; 0 for none, which no threshold accepts.
        wrong: whether people say otherwise.
        weights: of the cases, above 0.
        users: the user of each case.
    """

    certainty: Sequence[float]
    wrong: Sequence[bool]
    weights: Sequence[float]
    users: Sequence[str]

    def of(self, users: set[str]) -> Judged:
        """The part of some users."""
        places = [place for place, user in enumerate(self.users) if user in users]
        return Judged(*([column[place] for place in places] for column in vars(self).values()))


@dataclass(frozen=True)
class Threshold:
    """What an exam allows.

    Attributes:
        value: least certainty of an accepted verdict; inf where none may be accepted.
        users: C, number of users that it rests on.
        bound: for `answered_and_wrong` (C * mean loss + 1) / (C + 1), for `wrong_among_answered` the p value at it, or at
            the first one that was tested.
    """

    value: float
    users: int
    bound: float


def least_users(risk: float) -> int:
    """The number of users below which `answered_and_wrong` accepts nothing."""
    return math.ceil(1 / risk - 1 - ROUNDING)


def answered_and_wrong(exam: Judged, risk: float) -> Threshold:
    """The smallest threshold whose accepted and wrong verdicts are at most the risk, on average; see above.

    Args:
        risk: in (0, 1).
    """
    import numpy as np

    names, places = np.unique(np.array(exam.users), return_inverse=True)
    weights, sure = np.array(exam.weights, float), np.array(exam.certainty, float)
    parts = weights / np.bincount(places, weights)[places] * np.array(exam.wrong, float)
    order = np.argsort(-sure, kind="stable")
    sure, total = sure[order], np.cumsum(parts[order])
    last = np.append(sure[1:] < sure[:-1], True) & (sure > 0)  # equal certainties are accepted together
    bounds = (total[last] + 1) / (len(names) + 1)
    kept = int(np.searchsorted(bounds, risk + ROUNDING, side="right"))
    if not kept or 1 / (len(names) + 1) > risk + ROUNDING:
        return Threshold(math.inf, len(names), 1 / (len(names) + 1))
    return Threshold(float(sure[last][kept - 1]), len(names), float(bounds[kept - 1]))


def wrong_among_answered(exam: Judged, others: Judged, risk: float) -> Threshold:
    """The smallest threshold of a fixed sequence at which at most the risk of the accepted verdicts is wrong, with 95 % confidence.

    Args:
        others: verdicts in the cases of other users, which give the sequence: their certainties, from that at which their own p
            value is smallest downward.
        risk: in (0, 1).
    """
    import numpy as np

    count = len(set(exam.users))
    sure = [certainty for certainty in others.certainty if certainty > 0]
    if not sure:
        return Threshold(math.inf, count, 1.0)
    grid = sorted({float(value) for value in np.quantile(sure, np.linspace(0, 1, STEPS), method="lower")})
    start = min(grid, key=lambda value: (p_value(others, value, risk), value))
    found = Threshold(math.inf, count, p_value(exam, start, risk))
    for value in reversed(grid[: grid.index(start) + 1]):
        p = p_value(exam, value, risk)
        if p > 1 - LEVEL:
            break
        found = Threshold(value, count, p)
    return found


def p_value(exam: Judged, threshold: float, risk: float) -> float:
    """The p value of "more than the risk of the accepted verdicts are wrong", in (0, 1]."""
    import numpy as np

    accepted = np.array(exam.certainty, float) >= threshold
    if not accepted.any():
        return 1.0
    _, places = np.unique(np.array(exam.users)[accepted], return_inverse=True)
    weights = np.array(exam.weights, float)[accepted]
    lost = np.bincount(places, weights * np.array(exam.wrong, float)[accepted])
    apart = lost / np.bincount(places, weights) - risk
    bets = np.array(BETS) / (1 - risk)
    return min(1.0, 1 / float(np.prod(1 - bets * apart[:, None], axis=0).mean()))


def parts_of(users: Collection[str]) -> tuple[set[str], set[str], set[str]]:
    """Users -> a seventh that orders the thresholds, five sevenths that choose one, and a seventh that shows how it does; drawn by a seed."""
    drawn = sorted(set(users))
    random.Random(0).shuffle(drawn)
    part = len(drawn) // 7
    return set(drawn[:part]), set(drawn[2 * part :]), set(drawn[part : 2 * part])
