"""A cheap judge first, and another one for the duels on which the first abstains."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ..common.risk import Judged, Threshold, answered_and_wrong, parts_of
from ..common.statistics import Estimate, complement, share
from ..engine.duels import Duels
from ..runs.run import Run, RunError
from .abstaining import Opinion, certainty_of, examined, of_users, opinions
from .verdict import refuse_other_judge, refuse_other_users


@dataclass(frozen=True)
class Examinee:
    """A judge on duels, with its exam.

    Attributes:
        differs: whether people's votes show that it errs on the duels otherwise than in its exam; then it decides nothing.
        untested: why people's votes, which are there, do not test that; empty if they do.
    """

    run: Run
    exam: Run
    duels: Duels
    differs: bool = False
    untested: str = ""


@dataclass(frozen=True)
class CascadeStep:
    """A judge of a cascade.

    Attributes:
        threshold: for answered and wrong, at its part of the risk.
        accepted: number of duels that it decides.
        asked: number of duels that it has to see.
        unseen: number of these that its run does not have, which count as left.
    """

    judge: Examinee
    threshold: Threshold
    accepted: int
    asked: int
    calls: int
    unseen: int

    @property
    def model(self) -> str:
        return self.judge.run.model


@dataclass(frozen=True)
class Cascade:
    """Two judges.

    Attributes:
        risk: of all of it, in (0, 1). Each judge has half of it: a duel that is answered and wrong is so by one of them.
        bound: the sum of the judges' bounds, see `risk.Threshold`.
        coverage, wrong: share of a user's pairs that one of them answers, and that is answered and wrong; of users of the exams that no
            threshold was chosen by.
        accuracy: of what is answered there.
        left: number of duels that both leave to people.
        rate: share of the accepted verdicts that are for the reply.
        users, chose: as `abstaining.Abstaining` has them; a user who chose either threshold counts.
    """

    risk: float
    steps: tuple[CascadeStep, CascadeStep]
    bound: float
    coverage: Estimate
    wrong: Estimate
    accuracy: Estimate
    left: int
    rate: Estimate
    users: int
    chose: int


def abstained(judge: Examinee, risk: float) -> list[str]:
    """Ids of the duels on which the first judge of a cascade abstains."""
    refuse_other_judge(judge.run, judge.exam)
    certainty = certainty_of(judge.run, judge.exam)
    exam = examined(judge.exam, certainty, [case.cell for case in judge.run.cases.values()])
    least = _threshold(exam, risk).value
    return [case for case, opinion in opinions(judge.run, certainty).items() if opinion.certainty < least]


def cascade(first: Examinee, second: Examinee, risk: float) -> Cascade:
    """Two judges of the same duels.

    Args:
        second: its run may have only the duels on which the first abstains.

    Raises:
        RunError: an exam is of another judge, of other cells or of too few users; or the duels are of others.
    """
    if (first.duels.writer, first.duels.against) != (second.duels.writer, second.duels.against):
        raise RunError(
            f"{second.run.logs[0]}: found duels of {second.duels.writer} against {second.duels.against}, expected "
            f"{first.duels.writer} against {first.duels.against} as in {first.run.logs[0]}."
        )
    cells = [case.cell for case in first.run.cases.values()]
    judged, exams, thresholds = [], [], []
    for judge in (first, second):
        refuse_other_judge(judge.run, judge.exam)
        refuse_other_users(judge.run, judge.exam, judge.duels)
        if missing := sorted(set(cells) - set(judge.exam.answered)):
            raise RunError(
                f"{judge.exam.logs[0]}: found no case of {', '.join(missing)} in the exam, expected the cells of {first.run.logs[0]}."
            )
        certainty = certainty_of(judge.run, judge.exam)
        exam = examined(judge.exam, certainty, cells)
        threshold = _threshold(exam, risk)
        thresholds.append(replace(threshold, value=math.inf) if judge.differs else threshold)
        exams.append((judge.exam, opinions(judge.exam, certainty), exam.users))
        judged.append(
            {judge.duels.sources[case_id]: opinion for case_id, opinion in opinions(judge.run, certainty).items()}
        )
    one, two = (threshold.value for threshold in thresholds)
    mine, theirs = judged
    open_ = [source for source, opinion in mine.items() if opinion.certainty < one]
    decided = {source: opinion for source, opinion in mine.items() if opinion.certainty >= one}
    more = {source: theirs[source] for source in open_ if source in theirs and theirs[source].certainty >= two}
    both = {**decided, **more}
    user_of = {first.duels.sources[case_id]: case.user_id for case_id, case in first.run.cases.items()}
    coverage, wrong, among = of_users(_shown(exams, one, two), 0.5)
    return Cascade(
        risk=risk,
        steps=(
            CascadeStep(first, thresholds[0], len(decided), len(mine), _calls(first, mine), 0),
            CascadeStep(
                second, thresholds[1], len(more), len(open_), _calls(second, set(open_)), sum(source not in theirs for source in open_)
            ),
        ),
        bound=math.fsum(threshold.bound for threshold in thresholds if threshold.value < math.inf),
        coverage=coverage,
        wrong=wrong,
        accuracy=complement(among),
        left=len(mine) - len(both),
        rate=share([float(opinion.first) for opinion in both.values()], [user_of[source] for source in both]),
        users=len({*user_of.values()}),
        chose=len({*user_of.values()} & {user for *_, users in exams for user in parts_of(users)[1]}),
    )  # fmt: skip


def _threshold(exam: Judged, risk: float) -> Threshold:
    """The threshold of one judge in a cascade, at half of the risk."""
    return answered_and_wrong(exam.of(parts_of(exam.users)[1]), risk / 2)


def _calls(judge: Examinee, sources: Collection[str]) -> int:
    """Number of calls of a judge on the duels of some sources."""
    return sum(
        len(case) * len(judge.run.method.calls)
        for case_id, case in judge.run.cases.items()
        if judge.duels.sources[case_id] in sources
    )


def _shown(exams: Sequence[tuple[Run, Mapping[str, Opinion], Sequence[str]]], one: float, two: float) -> Judged:
    """What both judges come to in the exams: certainty 1 where one answers; of users that neither threshold was chosen by."""
    shown = set.intersection(*(parts_of(users)[2] for *_, users in exams))
    (exam, mine, _), (_, theirs, _) = exams
    ids = [case_id for case_id, case in exam.cases.items() if case.user_id in shown and case_id in theirs]
    final = [mine[case_id] if mine[case_id].certainty >= one else theirs[case_id] for case_id in ids]
    taken = [mine[case_id].certainty >= one or theirs[case_id].certainty >= two for case_id in ids]
    return Judged(
        [float(accepted) for accepted in taken], [not opinion.first for opinion in final], [1.0] * len(ids),
        [exam.cases[case_id].user_id for case_id in ids],
    )  # fmt: skip
