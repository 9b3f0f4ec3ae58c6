"""What a judge finds in people's place: of how many cases something is so."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..common.corrected import LONGER, NONE, SHORTER, Corrected, Known, Votes, corrected_share
from ..common.human_votes import LEAST_USERS, Powered, prediction_powered
from ..common.statistics import Estimate, linearized, mean, share
from .outcome import Outcome, ScoredCase


@dataclass(frozen=True, kw_only=True)
class Share:
    """The share of cases of which something is so, to people and to a judge in their place.

    Attributes:
        name: for the head of a column: `relevant`.
        option: in which a run on cases that nobody judged differs from its exam.
        said: what the model says of a case: 1 if it is so, 0 if not or unreadable.
        true: the same of people, of a case that they judged.
    """

    name: str
    option: str
    said: Callable[[Outcome], float]
    true: Callable[[Outcome], float]


@dataclass(frozen=True)
class JudgedShare:
    """A share as a judge in people's place comes to it.

    Attributes:
        said: as the judge says it.
        corrected: without the judge's errors, or why there is none; its `longer` is the judge's sensitivity in the exam, its `shorter` the
            specificity.
        of_exam: to people, in the exam.
        people, users: number of the cases that people judged, too, and of their users.
        powered: the share with these; None with those of fewer than `human_votes.LEAST_USERS` users.
    """

    said: Estimate
    corrected: Corrected
    of_exam: Estimate
    people: int
    users: int
    powered: Powered | None

    @property
    def best(self) -> Estimate | None:
        """With people's votes where they are enough, else corrected by the exam; None where it cannot be."""
        return self.powered.rate if self.powered else self.corrected.rate


def judged_share(
    of: Share,
    cases: Sequence[ScoredCase],
    exam: Sequence[ScoredCase],
    people: Sequence[float | None],
    prompts: Sequence[str] = (),
    known: Known = NONE,
) -> JudgedShare:
    """What a judge says of some cases, without its errors.

    Args:
        cases: at least one.
        exam: the same judge on cases that people judged, of the same cells.
        people: of each of `cases`, 1 if it is so to people, 0 if not; None where nobody judged. Those that they judged were drawn at random.
        prompts: of each of `cases` where users share prompts.
        known: further cases, of which it is known whether it is so.
    """
    users = [case.user_id for case in cases]
    said = [_said(of, case) for case in cases]
    votes = Votes(said, [1 - one for one in said], [LONGER] * len(said), users, [case.cell for case in cases], prompts)
    true = [of.true(case[0]) for case in exam]
    right = [one if so else 1 - one for so, one in zip(true, (_said(of, case) for case in exam), strict=True)]
    examined = Votes(
        right, [1 - one for one in right], [LONGER if so else SHORTER for so in true], [case.user_id for case in exam],
        [case.cell for case in exam], [f"exam {case.case_id}" for case in exam] if prompts else (),
    )  # fmt: skip
    voters = len({user for user, one in zip(users, people, strict=True) if one is not None})
    return JudgedShare(
        share(said, users, also=prompts or None),
        corrected_share(votes, examined, known),
        share(true, examined.users),
        sum(one is not None for one in people),
        voters,
        prediction_powered(people, votes, known) if voters >= LEAST_USERS else None,
    )


def _said(of: Share, case: ScoredCase) -> float:
    return mean(map(of.said, case))


def part_of(part: JudgedShare | None, whole: JudgedShare) -> Estimate | None:
    """How much of one share another one is, such as of the relevant ones those that are also selected.

    Args:
        part: the share of the same cases of which something else is so, too; None where that is so of no case.

    Returns:
        Its error is that of the first-order expansion; nan without a part. None where one of both cannot be corrected, or the whole is 0.
    """
    bottom = whole.powered or whole.corrected
    if bottom.rate is None or not bottom.rate.value:
        return None
    if part is None:
        return replace(bottom.rate, value=0.0, stderr=math.nan, low=math.nan, high=math.nan)
    top = part.powered or part.corrected
    if top.rate is None:
        return None
    value = top.rate.value / bottom.rate.value
    moves = {  # the exam's users are in one of both alone where people judged enough of the other
        cluster: (top.moves.get(cluster, 0.0) - value * bottom.moves.get(cluster, 0.0)) / bottom.rate.value
        for cluster in {**bottom.moves, **top.moves}
    }
    voters = min(one.users if one.powered else math.inf for one in (part, whole))
    made = linearized(value, moves, bottom.rate.n, voters - 1)
    return replace(made, value=min(value, 1.0), low=max(made.low, 0.0), high=min(made.high, 1.0))
