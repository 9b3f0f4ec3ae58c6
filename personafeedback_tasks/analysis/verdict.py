"""A judge's votes on a model's replies -> how often the replies win, beside how good the judge is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.cases import CaseSet
from ..core.duels import Duels, NotAsked
from ..logs.caveat import WEAKENS, Caveat, grouped, ordered
from ..logs.errors import RunError
from ..logs.run import Run, text
from ..stats.corrected import EQUAL, NONE, Corrected, Known, Votes, corrected, errors
from ..stats.estimates import Estimate, by_user, linearized, mean, share
from ..stats.human_votes import LEAST_USERS, Powered, prediction_powered
from ..stats.logistic import LengthAdjusted, length_adjusted
from . import caveats
from .void import is_void
from .votes import Voted, voted

VOID_RUN = "The numbers of the run, or of its judge's calibration set, are void."

NOT_ADJUSTED = LengthAdjusted(None, math.nan, math.nan)


@dataclass(frozen=True)
class VerdictGroup:
    """One line of a verdict: a cell, or several.

    Attributes:
        name: `general_hard`, `general`, `total`.
        rate: of all duels, also those that were not asked, uncorrected.
        won: number of asked duels whose calls all picked the reply.
        split: number of those whose calls disagree, or some of them picked no text.
        lost: number of those whose calls all picked the other side.
        neither: number of those where no call picked a text: no answer can be read, or both rewards are equal.
        not_asked: reason (`tie`, `empty`, `other_empty`) -> number of duels.
        consistency: share of the duels with readable answers whose calls picked the same text; nan without orders.
        unreadable: share of the calls that picked neither text.
        calibration: the judge's accuracy on the same cells.
    """

    name: str
    rate: Estimate
    won: int
    split: int
    lost: int
    neither: int
    not_asked: Mapping[str, int]
    consistency: float
    unreadable: float
    calibration: Estimate

    @property
    def asked(self) -> int:
        return self.won + self.split + self.lost + self.neither


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The result of one run of duels."""

    run: Run
    calibration: Run  # the same judge on the benchmark
    duels: Duels
    groups: tuple[VerdictGroup, ...]  # the last one has all of them
    corrected: Corrected  # the rate without the judge's errors, or why there is none
    adjusted: LengthAdjusted  # the rate of the asked duels at equal length
    people: int  # number of duels with people's votes
    people_users: int  # number of their users
    # the rate with these; None without them, or with those of fewer than `human_votes.LEAST_USERS` users
    powered: Powered | None
    unchecked: str | None  # why the calibration set's texts are not at hand; None if they are

    @property
    def caveats(self) -> list[Caveat]:
        """Caveats to show before the numbers."""
        found = grouped([("", caveats.of_run(self.run)), ("the calibration set", caveats.of_run(self.calibration))])
        if self.run.partial and self.duels.not_asked:
            found.append(Caveat("ties_left_out", WEAKENS))
        return ordered([*found, *caveats.of_interval(self.overall.rate)])

    @property
    def overall(self) -> VerdictGroup:
        return self.groups[-1]


def differences(run: Run, calibration: Run) -> list[str]:
    """Differences between a run and its judge's calibration set that must not be: `model: found A, expected B`."""
    here, there = run.signature.defining, calibration.signature.defining
    names = [name for name in here if name not in run.benchmark.signed]  # which are digests of data
    pairs = [("model", run.model, calibration.model)]
    pairs += [(name, text(here[name]), text(there.get(name))) for name in names]
    pairs += [(name, *values) for name, values in run.other_conditions(calibration).items()]
    return [f"{name}: found {its}, expected {own}" for name, own, its in pairs if own != its]


def refuse_other_judge(run: Run, calibration: Run) -> None:
    """Raise RunError unless the calibration set is of the run's judge, asked in the same way, with the same cells."""
    found = differences(run, calibration)
    if found:
        raise RunError(
            f"{calibration.logs[0]}: found the calibration run of another judge than in {run.logs[0]} "
            f"({'; '.join(found)}). Run the judge with the same options on the benchmark."
        )
    missing = [cell for cell in run.cells if cell not in calibration.answered]
    if missing:
        raise RunError(
            f"{calibration.logs[0]}: found no case of {', '.join(missing)} in the calibration set, expected the "
            f"cells of {run.logs[0]}. Run the judge on these, too."
        )


def make_verdict(
    run: Run,
    calibration: Run,
    duels: Duels,
    cases: CaseSet[Any],
    examined: CaseSet[Any] | None,
    people: Mapping[str, Sequence[float]] | None = None,
    why_not: str = "",
) -> Verdict:
    """The verdict on one run of duels.

    Args:
        examined: the cases of the calibration set, for their lengths; None if they are not at hand.
        people: case id of the duel -> people's votes; None without any.

    Raises:
        RunError: the calibration set is of another judge, or of other cells; or the run has no answered case.
    """
    refuse_other_judge(run, calibration)
    mine, theirs = voted(run, cases), voted(calibration, examined)
    # Of a run that is not finished, nobody knows how many of them belong to the cases that it answered.
    not_asked = [one for one in duels.not_asked if one.cell in run.cells] if not run.partial else []
    if not mine.ids and not not_asked:
        raise RunError(f"{run.logs[0]}: found no answered duel in it, expected some. Run it again.")
    known = _known(not_asked)
    columns = run.benchmark.columns({*mine.votes.cells, *(one.cell for one in not_asked)})
    people = people or {}
    votes_of = [mean(people[case_id]) if case_id in people else None for case_id in mine.ids]
    voters = len({user for user, vote in zip(mine.votes.users, votes_of, strict=True) if vote is not None})
    void = is_void(run)  # then only the votes as they are remain
    if void or is_void(calibration):
        found = Corrected(None, math.nan, math.nan, math.nan, why_not=VOID_RUN)
    elif examined is None:
        found = Corrected(None, math.nan, math.nan, math.nan)
    else:
        found = corrected(mine.votes, theirs.votes, known)
    return Verdict(
        run=run,
        calibration=calibration,
        duels=duels,
        groups=tuple(_group(name, cells, mine, theirs.votes, not_asked) for name, cells in columns.items()),
        corrected=found,
        adjusted=NOT_ADJUSTED if void else length_adjusted(mine.votes.won, mine.votes.longer, mine.votes.users),
        people=len(votes_of) - votes_of.count(None),
        people_users=voters,
        powered=prediction_powered(votes_of, mine.votes, known) if voters >= LEAST_USERS and not void else None,
        unchecked=None if examined is not None else why_not,
    )


def _known(not_asked: Sequence[NotAsked]) -> Known:
    return Known([one.won for one in not_asked], [one.user_id for one in not_asked]) if not_asked else NONE


def _group(
    name: str, cells: Sequence[str], mine: Voted, calibration: Votes, not_asked: Sequence[NotAsked]
) -> VerdictGroup:
    votes = mine.votes
    there = [place for place, cell in enumerate(votes.cells) if cell in cells]
    known = [one for one in not_asked if one.cell in cells]
    won, lost = [votes.won[place] for place in there], [votes.lost[place] for place in there]
    whys = [one.why for one in known]
    neither = sum(not picks for picks in map(sum, zip(won, lost, strict=True)))
    return VerdictGroup(
        name=name,
        rate=share([*won, *_known(known).won], [*(votes.users[place] for place in there), *_known(known).users]),
        won=won.count(1),
        split=len(there) - won.count(1) - lost.count(1) - neither,
        lost=lost.count(1),
        neither=neither,
        not_asked={why: whys.count(why) for why in dict.fromkeys(one.why for one in not_asked)},
        consistency=mean(mine.consistent[place] for place in there),
        unreadable=mean(1 - a - b for a, b in zip(won, lost, strict=True)),
        calibration=accuracy(calibration, [votes.cells[place] for place in there]),
    )


def accuracy(calibration: Votes, cells: Sequence[str]) -> Estimate:
    """The accuracy in a calibration set whose cells weigh as in `cells`, those of some duels; nan without any."""
    found = errors(calibration, cells)
    there = [place for place, weight in enumerate(found.weights) if weight]
    users = [calibration.users[place] for place in there]
    if len({found.weights[place] for place in there}) <= 1:
        return share([calibration.won[place] for place in there], users)
    value, part = found.right[EQUAL], found.weights / found.weights.sum()
    moves = zip(users, (float(part[place] * (calibration.won[place] - value)) for place in there), strict=True)
    made = linearized(value, by_user(moves), len(there))
    return replace(made, low=max(made.low, 0.0), high=min(made.high, 1.0))  # in this order nan stays nan
