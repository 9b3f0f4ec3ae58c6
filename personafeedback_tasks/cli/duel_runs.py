"""Runs on duels, with their data and the exam of their judge: what `verdict` and `rank` read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..common.errors import DataError
from ..common.statistics import Estimate, estimate
from ..engine.cases import CaseSet
from ..engine.signature import set_of
from ..runs.graded import graded_runs, has_votes
from ..runs.read import only
from ..runs.run import Run, RunError
from ..runs.written import of_writer
from .run_data import RunData, reason
from .runs import passed_over, read

if TYPE_CHECKING:
    from ..engine.duels import Duels
    from ..reports.page_data import Part

CORRECTED = "corrected by the exam"

AS_THEY_ARE = "These win rates are the judge's votes as they are; pass --exam, its run on the benchmark, to see them without its errors."

Found = tuple[CaseSet[Any] | None, str]
"""The cases of a run, or why they are not at hand."""


def cases_of(run: Run, data: Sequence[RunData]) -> Found:
    """The cases of a run, from the first place that has them."""
    why_not = ""
    for one in data:
        try:
            cases, why_not = one.checked(run)
        except (DataError, RunError) as error:
            why_not = reason(error, run, one.named or "")
            continue
        if cases is not None:
            return cases, ""
    return None, why_not


def votes_in(run: Run, data: Sequence[RunData]) -> list[tuple[Run, Duels, CaseSet[Any]]]:
    """The runs of a grader in the same run as the replies; empty for any other run.

    Raises:
        RunError: there are votes, and the data are not at hand.
    """
    if run.benchmark.graded is None:
        return []
    cases, why_not = cases_of(run, data)
    if cases is not None:
        return graded_runs(run, cases)
    if has_votes(run):
        raise RunError(
            f"{run.logs[0]}: the data of its replies are not at hand, which a grader's votes need. {why_not} Pass --data."
        )
    return []


def duels_of(run: Run, data: Sequence[RunData]) -> tuple[Duels, CaseSet[Any]] | None:
    """The duels of a run with their cases; None for a run of a folder that is on something else.

    Raises:
        RunError: it is none, or its data are not at hand, and its log was named.
    """
    of = run.benchmark.report.duels
    cases, why_not = cases_of(run, data) if of is not None and set_of(run.signature) else (None, "")
    if of is not None and cases is not None and (found := of(cases)) is not None:
        return found, cases
    said = (
        f"the data of its duels are not at hand, which say who wrote what. {why_not}"
        if why_not
        else f"found a run on {run.signature['source']}, which has no duels."
    )
    if not run.named:
        passed_over(f"Passed over {run.logs[0]}: {said}")
        return None
    wanted = "Pass a judge's run on a folder that `personafeedback duel` wrote; that on the benchmark goes to --exam."
    raise RunError(f"{run.logs[0]}: {said}" if why_not else f"{run.logs[0]}: {said} {wanted}")


def duels_in(run: Run, data: Sequence[RunData]) -> tuple[Duels, CaseSet[Any]] | None:
    """The duels of a run, if its data are at hand and say so. If they are not, a line says what follows."""
    of, named = run.benchmark.report.duels, set_of(run.signature)
    if of is None or named is None:
        return None
    cases, why_not = cases_of(run, data)
    if cases is None:
        passed_over(
            f"{run.logs[0]}: the data of {named.name!r} are not at hand, so that its model is ranked, and no writer if these are "
            f"duels. {why_not} Pass --data."
        )
        return None
    found = of(cases)
    return None if found is None else (found, cases)


def writers(
    written: Sequence[tuple[Run, Duels, CaseSet[Any]]], exam: Path | None, data: Sequence[RunData]
) -> list[Part]:
    """The rankings of the writers of some duels: those that the same judge compared with the same side.

    Args:
        exam: of the judges; then each row has its win rate without the judge's errors, nan where that is not given.
    """
    from ..analysis.families import favored
    from ..analysis.verdict import make_verdict
    from ..reports.page_data import Part
    from ..reports.rank import alike, make_ranking

    corrected: dict[int, Estimate] = {}
    notes: dict[int, list[str]] = {}
    rows: list[tuple[Run, dict[str, Run]]] = []
    candidates = exams(exam) if exam is not None else []
    for run, duels, cases in written:
        row = of_writer(run, duels)
        rows.append((row, {}))
        notes[id(row)] = list(favored(run.model, duels.models))
        if exam is not None:
            of = exam_of(run, exam, candidates)
            examined, why_not = cases_of(of, data)
            rate = make_verdict(run, of, duels, cases, examined, None, why_not).corrected.rate
            corrected[id(row)] = rate or estimate([], [])  # undefined
    parts = []
    for some in alike(rows):
        ranking = make_ranking(some)
        own = [*([] if corrected else [AS_THEY_ARE]), *(note for row, _ in some for note in notes[id(row)])]
        ranking = replace(ranking, notes=tuple(dict.fromkeys([*ranking.notes, *own])))
        if corrected:
            ranking = replace(
                ranking,
                rows=tuple(
                    replace(row, measures={CORRECTED: corrected[id(row.run)], **row.measures}) for row in ranking.rows
                ),
            )
        parts.append(Part(ranking, None, None, "duels have the texts of several data sets."))
    return parts


def exams(path: Path) -> list[Run]:
    """The runs of an argument that are on a benchmark itself.

    Raises:
        RunError: none is.
    """
    runs = read([path])
    exams = [run for run in runs if set_of(run.signature) is None]
    if not exams:
        raise RunError(
            f"{runs[0].logs[0]}: found a run on the set {set_of(runs[0].signature).name!r}, expected the judge's run on the "  # type: ignore[union-attr]
            "benchmark itself, which is its exam."
        )
    return exams


def exam_of(run: Run, path: Path, candidates: Sequence[Run]) -> Run:
    """The exam of the judge of a run of duels.

    Raises:
        RunError: there is none, or several.
    """
    from ..analysis.verdict import differences, refuse_other_judge

    same = [one for one in candidates if not differences(run, one)]
    if not same:
        refuse_other_judge(run, min(candidates, key=lambda one: len(differences(run, one))))
    return only(path, same)
