"""A judge's votes on a model's replies -> how often the replies win, beside how good the judge was in its exam."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..common.corrected import EQUAL, NONE, Corrected, Known, Votes, corrected, errors
from ..common.human_votes import LEAST_USERS, Powered, prediction_powered
from ..common.length_adjusted import LengthAdjusted, length_adjusted
from ..common.statistics import Estimate, by_user, linearized, mean, share
from ..common.transfer import Transfer, no_test, transfer
from ..engine.cases import CaseSet
from ..engine.duels import Duels, NotAsked
from ..runs.caveat import WEAKENS, Caveat, grouped, ordered
from ..runs.run import Run, RunError, text
from . import caveats
from .abstaining import Abstaining, abstaining, beliefs
from .families import favored, related
from .human_file import WON, People
from .votes import Voted, voted


@dataclass(frozen=True)
class VerdictGroup:
    """One line of a verdict: a cell, or several.

    Attributes:
        rate: of all duels, also those that were not asked: what the votes come to as they are.
        won, lost: number of asked duels whose calls all picked the reply, or all the other side.
        neither: number of those where no call picked a text: no answer can be read, or both rewards are equal.
        split: number of the others: calls disagree, or some of them picked no text.
        not_asked: reason -> number of duels, of those that there are anywhere: `tie`, `empty`, `other_empty`.
        consistency: share of the duels with readable answers whose calls picked the same text; nan without orders.
        unreadable: share of the calls that picked neither text.
        exam: the judge's accuracy on the same cells.
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
    exam: Estimate

    @property
    def asked(self) -> int:
        return self.won + self.split + self.lost + self.neither


@dataclass(frozen=True, kw_only=True)
class BesidePeople:
    """People's votes on some of the duels.

    Attributes:
        duels, users: number of duels with votes, and of their users.
        powered: the rate with these; None without them, or with those of fewer than `human_votes.LEAST_USERS` users.
        transfer: the judge beside these; None in the same cases, and where they are all ties. Where it differs from the exam, there
            is no corrected rate, and `corrected.why_not` does not say so.
        drawn: whether the votes are on duels that were drawn with chances of their own, by which they weigh.
    """

    duels: int
    users: int
    powered: Powered | None
    transfer: Transfer | None
    drawn: bool = False

    @property
    def contradict(self) -> bool:
        """Whether the judge errs otherwise on the replies than in its exam, so that nothing follows from the latter."""
        return self.transfer is not None and self.transfer.differs

    @property
    def untested(self) -> str:
        """Why votes do not show whether the judge errs on the replies as in its exam; empty if they do."""
        return self.transfer.why_not if self.transfer is not None else no_test(self.duels, self.users)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Everything that is printed about one run of duels.

    Attributes:
        exam: the same judge on the benchmark.
        groups: the last one has all of them.
        corrected: the rate without the judge's errors, or why there is none.
        adjusted: the rate of the asked duels at equal length.
        unchecked: why the exam's texts are not at hand; None if they are.
        abstaining: which verdicts count at a risk; None without one.
    """

    run: Run
    exam: Run
    duels: Duels
    groups: tuple[VerdictGroup, ...]
    corrected: Corrected
    adjusted: LengthAdjusted
    people: BesidePeople
    unchecked: str | None
    abstaining: Abstaining | None

    @property
    def caveats(self) -> list[Caveat]:
        """What a reader must know before the numbers."""
        found = grouped([("", caveats.of_run(self.run)), ("the exam", caveats.of_run(self.exam))])
        if self.run.partial and self.duels.not_asked:
            found.append(Caveat("ties_left_out", WEAKENS))
        found += favored(self.run.model, self.relatives)
        if self.people.contradict:
            found.append(Caveat("judge_differs", WEAKENS, {"transfer": self.people.transfer}))
        return ordered([*found, *caveats.of_interval(self.overall.rate)])

    @property
    def overall(self) -> VerdictGroup:
        return self.groups[-1]

    @property
    def relatives(self) -> dict[str, str]:
        """Model of the duels that the judge is related to -> how, see `families.related`."""
        found = {model: related(self.run.model, model) for model in self.duels.models}
        return {model: what for model, what in found.items() if what}


def differences(run: Run, exam: Run, besides: Collection[str] = ()) -> list[str]:
    """In what an exam is not one of the judge of a run: `model: found A, expected B`.

    Args:
        besides: options in which both may differ.
    """
    others = {*run.benchmark.signed, *besides}  # the former are digests of data
    names = [name for name in run.defining if name not in others]
    pairs = [("model", run.model, exam.model)]
    pairs += [(name, text(run.signature.get(name)), text(exam.signature.get(name))) for name in names]
    pairs += [(name, *values) for name, values in run.other_conditions(exam).items()]
    return [f"{name}: found {there}, expected {here}" for name, here, there in pairs if here != there]


def refuse_other_judge(run: Run, exam: Run, besides: Collection[str] = (), advice: str = "") -> None:
    """Raise RunError unless an exam is of the judge of a run, asked in the same way, and has the same cells, see `differences`.

    Args:
        advice: what else to do about the exam of another judge, a sentence.
    """
    found = differences(run, exam, besides)
    if found:
        raise RunError(
            f"{exam.logs[0]}: found the exam of another judge than in {run.logs[0]} ({'; '.join(found)}). Run the judge with the "
            f"same options on the benchmark.{advice and f' {advice}'}"
        )
    missing = [cell for cell in run.cells if cell not in exam.answered]
    if missing:
        raise RunError(
            f"{exam.logs[0]}: found no case of {', '.join(missing)} in the exam, expected the cells of {run.logs[0]}. Run the "
            "judge on these, too."
        )


def refuse_other_users(run: Run, exam: Run, duels: Duels) -> None:
    """Raise RunError unless the cases that both know belong to the same users: an exam may be on another copy of the data."""
    for case in run.cases.values():
        source = duels.sources[case.case_id]
        there = exam.cases.get(source)
        if there is not None and there.user_id != case.user_id:
            raise RunError(
                f"{exam.logs[0]}: found {source} of user {there.user_id}, expected user {case.user_id} as in the duel {case.case_id} "
                f"of {run.logs[0]}. Run the exam on the data that the replies were written for."
            )


def make_verdict(
    run: Run,
    exam: Run,
    duels: Duels,
    cases: CaseSet[Any],
    examined: CaseSet[Any] | None,
    people: People | None = None,
    why_not: str = "",
    risk: float | None = None,
) -> Verdict:
    """The verdict on one run of duels.

    Args:
        examined: the cases of the exam, for their lengths; None if they are not at hand.
        risk: in (0, 1), at which verdicts count; None for no such threshold.

    Raises:
        RunError: the exam is of another judge, of other cells or users, or has too few users for a risk; or the run has no answered case.
    """
    refuse_other_judge(run, exam)
    refuse_other_users(run, exam, duels)
    mine, theirs = voted(run, cases), voted(exam, examined)
    # Of a run that is not finished, nobody knows how many of them belong to the cases that it answered.
    not_asked = [one for one in duels.not_asked if one.cell in run.cells] if not run.partial else []
    if not mine.ids and not not_asked:
        raise RunError(f"{run.logs[0]}: found no answered duel in it, expected some. Run it again.")
    known = _known(not_asked)
    columns = run.benchmark.columns({*mine.votes.cells, *(one.cell for one in not_asked)})
    people = people or People({}, {})
    votes_of = [mean(people.duels[case_id]) if case_id in people.duels else None for case_id in mine.ids]
    voters = len({user for user, vote in zip(mine.votes.users, votes_of, strict=True) if vote is not None})
    enough = voters >= LEAST_USERS
    likely = [people.likely.get(case_id, 1.0) for case_id in mine.ids] if people.likely else None
    ballots = [[vote for vote in people.duels.get(case_id, ()) if vote != WON["tie"]] for case_id in mine.ids]
    of_exam = [people.exam.get(case_id, ()) for case_id in theirs.ids]
    predicted = mine.votes
    if likely is not None:  # the chances rest on what the exam makes of its certainty, and so does the estimate
        believed = beliefs(run, exam)
        predicted = replace(predicted, won=[believed[case_id] for case_id in mine.ids])
    beside = BesidePeople(
        duels=len(votes_of) - votes_of.count(None),
        users=voters,
        powered=prediction_powered(votes_of, predicted, known, likely) if enough else None,
        transfer=transfer(ballots, mine.votes, theirs.votes, of_exam, likely) if enough else None,
        drawn=likely is not None,
    )
    if examined is None:
        found = Corrected(None, math.nan, math.nan, math.nan)
    else:
        found = corrected(mine.votes, theirs.votes, known)
    if beside.contradict:
        found = replace(found, rate=None)
    return Verdict(
        run=run,
        exam=exam,
        duels=duels,
        groups=tuple(_group(name, cells, mine, theirs.votes, not_asked) for name, cells in columns.items()),
        corrected=found,
        adjusted=length_adjusted(mine.votes.won, mine.votes.longer, mine.votes.users),
        people=beside,
        unchecked=None if examined is not None else why_not,
        abstaining=abstaining(run, exam, risk, beside.contradict) if risk is not None and mine.ids else None,
    )


def _known(not_asked: Sequence[NotAsked]) -> Known:
    return Known([one.won for one in not_asked], [one.user_id for one in not_asked]) if not_asked else NONE


def _group(name: str, cells: Sequence[str], mine: Voted, exam: Votes, not_asked: Sequence[NotAsked]) -> VerdictGroup:
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
        exam=accuracy(exam, [votes.cells[place] for place in there]),
    )


def accuracy(exam: Votes, cells: Sequence[str]) -> Estimate:
    """The accuracy in an exam whose cells weigh as much as those of some duels.

    Args:
        cells: the cell of each duel. Without any, nothing is defined.
    """
    found = errors(exam, cells)
    there = [place for place, weight in enumerate(found.weights) if weight]
    users = [exam.users[place] for place in there]
    if len({found.weights[place] for place in there}) <= 1:
        return share([exam.won[place] for place in there], users)
    value, part = found.right[EQUAL], found.parts[EQUAL]
    moves = zip(users, (float(part[place] * (exam.won[place] - value)) for place in there), strict=True)
    made = linearized(value, by_user(moves), len(there))
    return replace(made, low=max(made.low, 0.0), high=min(made.high, 1.0))  # in this order nan stays nan
