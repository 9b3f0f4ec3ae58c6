"""What a judge says in people's place of cases that nobody judged -> the share of them of which it is so, without the judge's errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..common.errors import DataError
from ..engine.cases import CaseSet
from ..engine.outcome import Outcome
from ..engine.share import JudgedShare, Share, judged_share
from ..runs.caveat import WEAKENS, Caveat, grouped, ordered
from ..runs.data import RunData, cases_of
from ..runs.run import Run, RunError
from . import caveats
from .verdict import refuse_other_judge


@dataclass(frozen=True)
class ShareVerdict:
    """Everything that is printed about one run of a judge in people's place.

    Attributes:
        exam: the same judge on cases that people judged.
        of: what is shared out.
        no_data: that the errors are over users alone, since the rows are not at hand.
    """

    run: Run
    exam: Run
    of: Share
    found: JudgedShare
    no_data: tuple[Caveat, ...]

    @property
    def caveats(self) -> list[Caveat]:
        """What a reader must know before the numbers."""
        found = grouped([("", caveats.of_run(self.run)), ("the exam", caveats.of_run(self.exam))])
        return ordered([*found, *self.no_data, *caveats.of_interval(self.found.said)])


def make_share(run: Run, exam: Run, places: Sequence[RunData], people: Iterable[Any] = ()) -> ShareVerdict:
    """The verdict on one run, with the errors over users, and over prompts where users share them.

    Args:
        places: where the rows may be, which name the prompts.
        people: some of its cases, drawn at random, with people's judgment.

    Raises:
        RunError: see `judged_by`.
    """
    of = judged_by(run, exam)
    ids = sorted(run.cases)
    true = {case.id: of.true(Outcome(targets=run.benchmark.targets(case))) for case in people}
    judged = [true.get(name) for name in ids]
    rows, why_not = cases_of(run, places)
    examine = run.benchmark.report.examine
    prompts = examine(rows, ids).prompts_of(ids) if rows is not None and examine else None
    found = judged_share(of, [run.cases[name] for name in ids], list(exam.cases.values()), judged, prompts or ())
    no_data = () if rows is not None else (Caveat("no_prompts", WEAKENS, {"why": why_not}),)
    return ShareVerdict(run, exam, of, found, no_data)


def judged_by(run: Run, exam: Run | None) -> Share:
    """The share that the judge of a run estimates.

    Args:
        exam: None without one.

    Raises:
        RunError: the run is of no task that has such a share, on cases that people judged, or empty; the exam is of another judge or stage, or
            on cases that nobody judged.
    """
    of = run.benchmark.report.share
    if of is None:
        raise RunError(
            f"{run.logs[0]}: found a run of {run.benchmark.name}, expected one in which a judge says of each case whether something is so. Pass another one."
        )
    _, unjudged = run.benchmark.options.values_of(of.option)
    if run.signature[of.option] != unjudged:
        raise RunError(
            f"{run.logs[0]}: found a run on cases that people judged, expected one with {of.option}={unjudged}. Pass it as the exam."
        )
    if exam is not None:
        if exam.benchmark.name == run.benchmark.name and exam.signature[of.option] == unjudged:
            raise RunError(
                f"{exam.logs[0]}: found an exam with {of.option}={unjudged}, expected cases that people judged. Run the judge on these."
            )
        refuse_other_judge(run, exam, {of.option})
    if not run.cases:
        raise RunError(f"{run.logs[0]}: found no answered case in it, expected some. Run it again.")
    return of


def with_exams(runs: Iterable[Run], exams: Iterable[Run]) -> list[tuple[Run, Share, Run | None]]:
    """Each run of a judge in people's place, what it says, and its exam if that is there.

    Raises:
        RunError: several runs, or several exams, are of one task; an exam is of a task without a run; or see `judged_by`.
    """
    of_runs, of_exams = _by_task(runs), _by_task(exams)
    for name, exam in of_exams.items():
        if name not in of_runs:
            raise RunError(
                f"{exam.logs[0]}: found an exam in {name}, but no run of that judge on what nobody judged (only of {', '.join(of_runs)}), expected one. "
                "Pass it as well, or leave out this exam."
            )
    pairs = [(run, of_exams.get(name)) for name, run in of_runs.items()]
    return [(run, judged_by(run, exam), exam) for run, exam in pairs]


def rows_of(run: Run, places: Sequence[RunData]) -> CaseSet[Any]:
    """The cases that a judge was asked about, which people's votes and models' texts are compared with.

    Raises:
        DataError: they are not at hand.
    """
    cases, why_not = cases_of(run, places)
    if cases is None:
        raise DataError(
            f"{run.logs[0]}: the rows of this run are not at hand, and their texts are needed. {why_not} Pass --data."
        )
    return cases


def _by_task(runs: Iterable[Run]) -> dict[str, Run]:
    found: dict[str, Run] = {}
    for run in runs:
        other = found.setdefault(run.benchmark.name, run)
        if other is not run:
            raise RunError(
                f"{run.logs[0]}: found a second run of {run.benchmark.name} (the first: {other.logs[0]}), expected one judge for each task. "
                "Pass one of them."
            )
    return found
