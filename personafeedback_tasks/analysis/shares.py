"""What a judge says in people's place of cases that nobody judged -> the share of them of which it is so, without the judge's errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..common.corrected import LONGER, SHORTER, Corrected, Votes, corrected_share
from ..common.human_votes import LEAST_USERS, Powered, prediction_powered
from ..common.statistics import Estimate, mean, share
from ..engine.outcome import Outcome, ScoredCase
from ..engine.report import Share
from ..runs.caveat import Caveat, grouped, ordered
from ..runs.run import Run, RunError
from . import caveats
from .verdict import refuse_other_judge


@dataclass(frozen=True)
class ShareVerdict:
    """Everything that is printed about one run of a judge in people's place.

    Attributes:
        exam: the same judge on cases that people judged.
        said: the share as the judge says it.
        corrected: without the judge's errors, or why there is none; its `longer` is the judge's sensitivity in the exam, its `shorter` the
            specificity.
        of_exam: the share to people in the exam.
        people, users: number of cases of the run that people judged, too, and of their users.
        powered: the share with these; None with those of fewer than `human_votes.LEAST_USERS` users.
    """

    run: Run
    exam: Run
    said: Estimate
    corrected: Corrected
    of_exam: Estimate
    people: int
    users: int
    powered: Powered | None

    @property
    def share_name(self) -> str:
        """What it is the share of, for the head of a column."""
        of = self.run.benchmark.report.share
        return of.name if of else ""

    @property
    def caveats(self) -> list[Caveat]:
        """What a reader must know before the numbers."""
        found = grouped([("", caveats.of_run(self.run)), ("the exam", caveats.of_run(self.exam))])
        return ordered([*found, *caveats.of_interval(self.said)])


def make_share(run: Run, exam: Run, people: Mapping[str, float] | None = None) -> ShareVerdict:
    """The verdict on one run.

    Args:
        people: case id -> 1 if it is so to people, 0 if not; of some of the cases, drawn at random.

    Raises:
        RunError: the run is of no task that has such a share, or on cases that people judged; the exam is of another judge or stage, or on
            cases that nobody judged.
    """
    of = _of(run)
    if exam.benchmark.name == run.benchmark.name and exam.signature[of.option] == run.signature[of.option]:
        raise RunError(
            f"{exam.logs[0]}: found an exam with {of.option}={exam.signature[of.option]}, expected cases that people judged. Run the judge on these."
        )
    refuse_other_judge(run, exam, {of.option})
    ids = sorted(run.cases)
    if not ids:
        raise RunError(f"{run.logs[0]}: found no answered case in it, expected some. Run it again.")
    cases = [run.cases[name] for name in ids]
    users, cells = [case.user_id for case in cases], [case.cell for case in cases]
    said = [_mean(of.said, case) for case in cases]
    votes = Votes(said, [1 - one for one in said], [LONGER] * len(ids), users, cells)
    judged = [(people or {}).get(name) for name in ids]
    voters = len({user for user, one in zip(users, judged, strict=True) if one is not None})
    return ShareVerdict(
        run=run,
        exam=exam,
        said=share(said, users),
        corrected=corrected_share(votes, _examined(exam, of)),
        of_exam=share(
            [of.true(case[0]) for case in exam.cases.values()], [case.user_id for case in exam.cases.values()]
        ),
        people=len(judged) - judged.count(None),
        users=voters,
        powered=prediction_powered(judged, votes) if voters >= LEAST_USERS else None,
    )


def _of(run: Run) -> Share:
    """What the judge of a run says of each case. Raises RunError: nothing, or people judged its cases."""
    of = run.benchmark.report.share
    if of is None:
        raise RunError(
            f"{run.logs[0]}: found a run of {run.name}, expected one in which a judge says of each case whether something is so. Pass another one."
        )
    _, unjudged = run.benchmark.options.values_of(of.option)
    if run.signature[of.option] != unjudged:
        raise RunError(
            f"{run.logs[0]}: found a run on cases that people judged, expected one with {of.option}={unjudged}. Pass it as the exam."
        )
    return of


def _mean(of: Callable[[Outcome], float], case: ScoredCase) -> float:
    return mean(map(of, case))


def _examined(exam: Run, of: Share) -> Votes:
    """An exam as `corrected_share` takes it."""
    cases = list(exam.cases.values())
    true = [of.true(case[0]) for case in cases]
    right = [said if so else 1 - said for so, said in zip(true, (_mean(of.said, case) for case in cases), strict=True)]
    return Votes(
        right, [1 - one for one in right], [LONGER if so else SHORTER for so in true], [case.user_id for case in cases],
        [case.cell for case in cases],
    )  # fmt: skip
