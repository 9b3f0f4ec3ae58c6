"""Whether a judge is as good on new replies as in its exam, seen through people's votes on some of the replies.

People err, too: one or two of them agree with a judge less often than the many behind a label of the exam. So the votes are
taken as noisy readings of the better text: independent of each other, and right with the same probability q everywhere. Two of
them agree with probability q ** 2 + (1 - q) ** 2, which gives q, and a judge that picks the better text in a share a of
its calls and the other one in w agrees with a vote in a q + w (1 - q), which gives a. People who also vote on pairs of the exam
need none of this: the judge's agreement with them there and here is compared as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .corrected import EQUAL, LONGER, ROUNDING, SHORTER, Votes, errors
from .human_votes import LEAST_USERS
from .significance import two_sided_p
from .statistics import Estimate, degrees_of_freedom, linearized

LEVEL = 0.05
"""How often a judge is said to err otherwise that errs alike."""

LEAST_RELIABILITY = 0.6
"""Of two voters. Below it, their agreement is too near to that of tossed coins to say how good a judge is."""

SIDES = (LONGER, EQUAL, SHORTER)


@dataclass(frozen=True)
class Transfer:
    """A judge on new replies beside its exam.

    Attributes:
        accuracy: on the replies, in [0, 1] up to noise: share of its calls that pick the better text, or, if `direct`, that agree
            with a vote.
        exam: the same in the exam, in pairs of the same cells and, unless `direct`, with the same side longer.
        difference: accuracy - exam; `n` is the number of duels with votes.
        reliability: q, how often a vote is for the better text; nan if `direct`.
        direct: whether people also voted on the exam.
        p: two-sided p value of "it errs on replies as in its exam"; nan with votes on the duels of one user.
        why_not: why there is no test; empty if there is one.
    """

    accuracy: float
    exam: float
    difference: Estimate
    reliability: float
    direct: bool
    p: float
    why_not: str = ""

    @property
    def differs(self) -> bool:
        """Whether the exam does not correct the votes."""
        return self.p < LEVEL


Ballots = Sequence[Sequence[float]]
"""Per case the votes of people, 1 for the first text, 0 for the second. A tie says nothing about a judge, and is left out before."""


def transfer(
    people: Ballots,
    duels: Votes,
    exam: Votes,
    people_of_exam: Ballots = (),
    likely: Sequence[float] | None = None,
) -> Transfer | None:
    """Compare a judge's accuracy on replies with that in its exam; None if no person preferred a side.

    The error is the jackknife over the users of both, with one degree of freedom less at most than users that people voted on.

    Args:
        people: of each duel.
        people_of_exam: of each case of the exam; empty without any.
        likely: the probability of each duel to be voted on; None if they are all the same.
    """
    import numpy as np

    voted = [place for place, ballots in enumerate(people) if len(ballots)]
    if not voted:
        return None
    voters = len({duels.users[place] for place in voted})
    cells = [duels.cells[place] for place in voted]
    weights: Any = np.array([1.0 if likely is None else 1 / likely[place] for place in voted])
    names = sorted({*duels.users, *exam.users})
    number = {name: index for index, name in enumerate(names)}

    def by_user(users: Sequence[str], columns: Any) -> Any:
        table = np.zeros((len(names), columns.shape[1]))
        np.add.at(table, [number[user] for user in users], columns)
        return table

    here = _agreement([people[p] for p in voted], _at(duels, voted))
    mine = by_user([duels.users[place] for place in voted], here * weights[:, None])
    if direct := any(map(len, people_of_exam)):
        asked = [place for place, ballots in enumerate(people_of_exam) if len(ballots)]
        there = _agreement([people_of_exam[p] for p in asked], _at(exam, asked))
        of_exam = errors(_at(exam, asked), cells, weights).weights
        theirs = by_user([exam.users[place] for place in asked], there * of_exam[:, None])
        measure: Callable[[Any, Any], tuple[float, float, float]] = _compared
    else:
        found = errors(exam, cells, weights)
        known = {side: not math.isnan(found.right[side]) for side in SIDES}
        sides = [
            side if known[side] and known[-side] else EQUAL
            for side in np.sign([duels.longer[place] for place in voted]).tolist()
        ]
        shares = [sum(people[place]) / len(people[place]) for place in voted]
        of_side = [
            [float(side == one) for one in SIDES] + [share * (side == one) for one in SIDES]
            for side, share in zip(sides, shares, strict=True)
        ]
        mine = np.hstack([mine, by_user([duels.users[place] for place in voted], np.array(of_side) * weights[:, None])])
        better, won = np.sign(exam.longer), np.array(exam.won, dtype=float)
        parts = [found.weights * ((better == side) | (side == EQUAL)) for side in SIDES]
        theirs = by_user(exam.users, np.array([*parts, *(part * won for part in parts)]).T)
        measure = _solved
    total = mine.sum(axis=0), theirs.sum(axis=0)
    accuracy, expected, reliability = measure(*total)
    without = [a - b for a, b, _ in (measure(total[0] - x, total[1] - y) for x, y in zip(mine, theirs, strict=True))]
    if voters > 1 and any(map(math.isnan, (accuracy, *without))):
        why_not = (
            "Two people hardly agree more often than by chance."
            if total[0][PAIRED]
            else "No duel has the votes of two people, so how often people err is unknown."
        )
        nothing = Estimate(math.nan, math.nan, math.nan, math.nan, len(voted), voters)
        return Transfer(accuracy, expected, nothing, reliability, direct, math.nan, why_not)
    center = math.fsum(without) / len(without)
    moves = {name: (center - value) * (len(names) - 1) / len(names) for name, value in zip(names, without, strict=True)}
    difference = linearized(accuracy - expected, moves, len(voted), voters - 1)
    p = _p(difference, min(voters - 1, degrees_of_freedom(moves.values())))
    return Transfer(accuracy, expected, difference, reliability, direct, p)


AGREED, PAIRED, PICKED, READ, COUNT = range(5)
"""Columns of what is summed over the duels: agreeing pairs of votes and whether there are any, calls that agree with a vote, readable
calls, and 1. Then, by side, 1 and the share of votes for the reply."""


def no_test(duels: int, users: int) -> str:
    """Why there is no `Transfer` at all of people's votes on so many duels."""
    if users < LEAST_USERS:
        return f"They are on duels of {users} users ({duels:,} duels), and at least {LEAST_USERS} users are needed."
    return "All of them are ties."


def _agreement(ballots: Ballots, votes: Votes) -> Any:
    import numpy as np

    rows = []
    for cast, won, lost in zip(ballots, votes.won, votes.lost, strict=True):
        count, first = len(cast), sum(cast)
        second = count - first
        pairs = count * (count - 1)
        alike = (first * (first - 1) + second * (second - 1)) / pairs if pairs else 0.0
        rows.append([alike, float(pairs > 0), (first * won + second * lost) / count, won + lost, 1.0])
    return np.array(rows)


def _at(votes: Votes, places: Sequence[int]) -> Votes:
    columns = vars(votes).values()  # there are no prompts where users share none
    return Votes(*([column[place] for place in places] if len(column) else column for column in columns))


def _compared(mine: Any, theirs: Any) -> tuple[float, float, float]:
    return _share(mine[PICKED], mine[COUNT]), _share(theirs[PICKED], theirs[COUNT]), math.nan


def _share(part: float, of: float) -> float:
    return float(part / of) if of else math.nan


def _solved(mine: Any, theirs: Any) -> tuple[float, float, float]:
    """(accuracy on the replies, the exam's on such pairs, reliability of a vote)."""
    agreed = _share(mine[AGREED], mine[PAIRED])
    reliability = (1 + math.sqrt(2 * agreed - 1)) / 2 if agreed >= 0.5 else math.nan
    rights = dict(zip(SIDES, (_share(won, n) for n, won in zip(theirs[:3], theirs[3:], strict=True)), strict=True))
    if not reliability >= LEAST_RELIABILITY:
        return math.nan, math.nan, reliability
    gain = 2 * reliability - 1
    accuracy = (mine[PICKED] - (1 - reliability) * mine[READ]) / gain / mine[COUNT]
    expected = 0.0
    for side, n, share in zip(SIDES, mine[5:8], mine[8:], strict=True):
        if n:
            better = (share - (1 - reliability) * n) / gain
            expected += (better * rights[side] + (n - better) * rights[-side]) / mine[COUNT]
    return float(accuracy), float(expected), reliability


def _p(difference: Estimate, degrees: float) -> float:
    """The p value; nan where the error is unknown. Where nothing varies, any difference is one."""
    if math.isnan(difference.stderr) or degrees < 1:
        return math.nan
    if difference.stderr < ROUNDING:
        return 0.0 if abs(difference.value) > ROUNDING else 1.0
    return two_sided_p(difference.value / difference.stderr, degrees)
