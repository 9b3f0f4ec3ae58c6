"""Runs on duels, with their data and the exam of their judge, for `verdict` and `rank`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..common.errors import DataError
from ..core.cases import CaseSet
from ..core.duels import Duels
from ..logs.caveat import VOID, WEAKENS, Caveat
from ..logs.data import RunData, cases_of
from ..logs.earlier import of_writer
from ..logs.errors import RunError
from ..logs.names import AS_LOGGED, with_names
from ..logs.read import only
from ..logs.run import Run
from ..stats.estimates import estimate
from .caveats import of_run
from .measures import Contender
from .ranking import Ranking, alike, make_ranking
from .verdict import differences, make_verdict, refuse_other_judge

CORRECTED = "corrected by the exam"

OnDuels = tuple[Run, Duels, CaseSet[Any]]
"""A run on duels, with these and their cases."""


def duels_of(run: Run, data: Sequence[RunData]) -> tuple[Duels, CaseSet[Any]]:
    """The duels of a run with their cases.

    Raises:
        RunError: it is on something else, or its data are missing or not those of the run.
    """
    of = run.benchmark.report.duels
    cases, why_not = cases_of(run, data) if of is not None and run.named_set else (None, "")
    if of is not None and cases is not None and (found := of(cases)) is not None:
        _refuse_other_set(run, cases)
        return found, cases
    if why_not:
        raise RunError(f"{run.logs[0]}: the data of its duels are not at hand, which say who wrote what. {why_not}")
    raise RunError(
        f"{run.logs[0]}: found a run on {run.signature.source}, which has no duels. Pass a judge's run on a folder that "
        "`personafeedback duel` wrote; that on the benchmark goes to --exam."
    )


def only_on_duels(runs: Sequence[Run], data: Sequence[RunData], say: Callable[[str], object]) -> list[OnDuels]:
    """The runs on duels; `say` gets a line on each other one. Raises RunError if all are others."""
    found, others = list[OnDuels](), list[RunError]()
    for run in runs:
        try:
            found.append((run, *duels_of(run, data)))
        except RunError as error:
            others.append(error)
    if others and not found:
        raise others[0]
    for other in others:
        say(f"Passed over {other}")
    return found


def split(
    runs: Sequence[Run], data: Sequence[RunData], say: Callable[[str], object]
) -> tuple[list[Run], list[OnDuels]]:
    """The runs on a benchmark, and those on duels; `say` gets a line on each for which missing data leave that open."""
    on_benchmark, on_duels = list[Run](), list[OnDuels]()
    for run in runs:
        duels = None
        try:
            duels = duels_in(run, data)
        except DataError as error:
            say(str(error))
        if duels is None:
            on_benchmark.append(run)
        else:
            on_duels.append((run, *duels))
    return on_benchmark, on_duels


def duels_in(run: Run, data: Sequence[RunData]) -> tuple[Duels, CaseSet[Any]] | None:
    """The duels of a run; None if it is on something else. Raises DataError if missing data leave that open."""
    of, named = run.benchmark.report.duels, run.named_set
    if of is None or named is None:
        return None
    cases, why_not = cases_of(run, data)
    if cases is None:
        raise DataError(
            f"{run.logs[0]}: the data of {named.name!r} are not at hand, so its model is ranked. To rank the writers of a run on "
            f"duels, pass --data. {why_not}"
        )
    found = of(cases)
    if found is None:
        return None
    _refuse_other_set(run, cases)
    return found, cases


def _refuse_other_set(run: Run, cases: CaseSet[Any]) -> None:
    # only set.json has the duels that were not asked, and the writer: no case of the log shows a change there
    if cases.digest != run.signature.data:
        raise RunError(
            f"{run.logs[0]}: found duels in {cases.source} that were changed after the run (digest {cases.digest}), expected those of the "
            f"run ({run.signature.data}). Restore the folder, or run the judge again."
        )


def writers(
    written: Sequence[OnDuels],
    exam: Path | None,
    candidates: Sequence[Run],
    data: Sequence[RunData],
    names: Mapping[str, str] = AS_LOGGED,
) -> list[Ranking]:
    """The rankings of the writers of some duels: those that the same judge compared with the same side.

    Args:
        exam: source of `candidates`, the judges' exams. Without an exam, a row's corrected win rate is undefined.
    """
    contenders = []
    for run, duels, cases in written:
        if exam is None:
            rate, caveats = None, [Caveat("votes_as_they_are", WEAKENS)]
        else:
            of = exam_of(run, exam, candidates)
            caveats = [caveat for caveat in of_run(of) if caveat.key == "demonstration" or caveat.severity == VOID]
            examined, why_not = cases_of(of, data)
            rate = make_verdict(run, of, duels, cases, examined, None, why_not).corrected.rate
        given = {CORRECTED: rate or estimate([], [])}  # undefined
        (writer,) = with_names([of_writer(run, duels)], names)
        contenders.append(Contender(writer, given=given, caveats=caveats))
    return [make_ranking(some) for some in alike(contenders)]


def exams(runs: Sequence[Run]) -> list[Run]:
    """The runs that are on a benchmark itself. Raises RunError if there are none."""
    if not runs:
        raise RunError("Found no run as exam, expected the judge's run on the benchmark itself. Pass its log.")
    exams = [run for run in runs if run.named_set is None]
    if not exams:
        raise RunError(
            f"{runs[0].logs[0]}: found a run on the set {runs[0].named_set.name!r}, expected the judge's run on the "  # type: ignore[union-attr]
            "benchmark itself, which is its exam."
        )
    return exams


def exam_of(run: Run, path: Path, candidates: Sequence[Run]) -> Run:
    """The exam of the judge of a run of duels. Raises RunError unless there is exactly one."""
    same = [one for one in candidates if not differences(run, one)]
    if not same:
        refuse_other_judge(run, min(candidates, key=lambda one: len(differences(run, one))))
    return only(path, same)
