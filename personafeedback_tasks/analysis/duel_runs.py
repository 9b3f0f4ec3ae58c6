"""Runs on duels, with their data, the calibration set of their judge and votes of people, for `verdict`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from ..common.errors import DataError, OptionError
from ..common.records import NonEmpty, one_of, short, short_list
from ..common.row_files import table
from ..core.cases import CaseSet
from ..core.duels import Duels
from ..logs.data import RunData
from ..logs.errors import RunError
from ..logs.read import only
from ..logs.run import Run
from .verdict import VerdictDocument, differences, make_verdict

WON = {"reply": 1.0, "tie": 0.5, "other": 0.0}
"""Winner -> the vote for the reply."""


class HumanVote(msgspec.Struct, frozen=True):
    """A row of the file of people's votes: the benchmark's case of a duel, and the side that a person prefers."""

    case: NonEmpty
    winner: Annotated[str, one_of(*WON)]


def without_duels(runs: Sequence[Run], data: RunData, say: Callable[[str], object]) -> list[Run]:
    """The runs that are on a benchmark, or whose data are missing; `say` gets a line on each other one.

    Raises:
        RunError: all runs are on duels.
    """
    others, on_duels = split(runs, data, say)
    for run, duels, _ in on_duels:
        found = (
            f"{run.logs[0]}: found a judge's run on duels of {duels.writer}, expected one on a benchmark. "
            "`personafeedback verdict` says how often the replies win; to compare two writers, judge a `duel` of one "
            "against the other."
        )
        if not others:
            raise RunError(found)
        say(f"Skipped {found}")
    return others


def verdicts_of(
    runs: Sequence[Run],
    calibration: Sequence[Run],
    data: RunData,
    say: Callable[[str], object],
    human: Path | None = None,
) -> VerdictDocument:
    """The verdict on each run on duels; `say` gets a line on each other run.

    Args:
        calibration: the judges' runs on the benchmark.
        human: a file of people's votes, which goes with one run of duels.

    Raises:
        RunError: no run is on duels, or no calibration run has the same judge.
    """
    others, on_duels = split(runs, data, say)
    for run in others:
        other = (
            f"{run.logs[0]}: found no duels of the run on {run.signature.source}. Pass a judge's run on a folder "
            "that `personafeedback duel` wrote, with --data where that is now; the run on the benchmark goes to "
            "--calibration."
        )
        if not on_duels:
            raise RunError(other)
        say(f"Skipped {other}")
    if human is not None and len(on_duels) > 1:
        raise OptionError(f"--human needs one run of duels, found {len(on_duels)}. Run `verdict` for each.")
    # Whatever may be refused comes before the first verdict, which takes long.
    judges = [calibration_of(run, calibration) for run, _, _ in on_duels]
    of_judges = [data.of(judge) for judge in judges]
    data.refuse_misfits(say)
    verdicts = []
    for (run, duels, cases), judge, (calibration_cases, why_not) in zip(on_duels, judges, of_judges, strict=True):
        people = human_votes(human, duels) if human is not None else None
        verdicts.append(make_verdict(run, judge, duels, cases, calibration_cases, people, why_not))
    return VerdictDocument(verdicts=verdicts)


def split(
    runs: Sequence[Run], data: RunData, say: Callable[[str], object]
) -> tuple[list[Run], list[tuple[Run, Duels, CaseSet[Any]]]]:
    """The runs on a benchmark, and those on duels with these and their cases; `say` gets a line where data are missing
    that would tell.
    """
    on_benchmark, on_duels = list[Run](), []
    for run in runs:
        try:
            duels = duels_in(run, data)
        except DataError as error:
            say(str(error))
            duels = None
        if duels is None:
            on_benchmark.append(run)
        else:
            on_duels.append((run, *duels))
    return on_benchmark, on_duels


def duels_in(run: Run, data: RunData) -> tuple[Duels, CaseSet[Any]] | None:
    """The duels of a run; None if it is on something else. Raises DataError if missing data leave that open."""
    of, named = run.benchmark.report.duels, run.named_set
    if of is None or named is None:
        return None
    cases, why_not = data.of(run)
    if cases is None:
        raise DataError(
            f"{run.logs[0]}: the data of {named.name!r}, which say whether these are duels and who wrote what, "
            f"were not found: it counts as a run without duels. Pass --data. {why_not}"
        )
    found = of(cases)
    if found is None:
        return None
    # only set.json has the duels that were not asked, and the writer: no case of the log shows a change there
    if cases.digest != run.signature.data:
        raise RunError(
            f"{run.logs[0]}: found duels in {cases.source} that were changed after the run (digest {cases.digest}), "
            f"expected those of the run ({run.signature.data}). Restore the folder, or run the judge again."
        )
    return found, cases


def calibration_of(run: Run, calibration: Sequence[Run]) -> Run:
    """The judge's run on the benchmark itself, or the run closest to one. Raises RunError for none, and for several."""
    candidates = [one for one in calibration if one.named_set is None]
    if not candidates:
        raise RunError(
            "Found no calibration run on the benchmark itself, expected one of the same judge. Pass its log "
            "to --calibration."
        )
    same = [one for one in candidates if not differences(run, one)]
    # `make_verdict` refuses the closest one, with its differences
    closest = min(candidates, key=lambda one: len(differences(run, one)))
    return only(candidates[0].logs[0], same or [closest])


def human_votes(path: Path, duels: Duels) -> Mapping[str, Sequence[float]]:
    """The votes of a file: case id of the duel -> its votes as in WON, one row for each person.

    Args:
        path: CSV with a header. Each row has `case`, the id of the benchmark's case (`source` in the row of the
            duel), and `winner`: reply, other or tie; other columns are ignored.

    Raises:
        DataError: a row is broken, or of a case that was not asked; or there is no vote.
    """
    asked = {source: case_id for case_id, source in duels.sources.items()}
    known = {duel.case: duel.why for duel in duels.not_asked}
    votes: dict[str, list[float]] = {}
    for where, vote in table(path, HumanVote):
        case = vote.case
        if case in known:
            raise DataError(
                f"{where}: found a vote on {short(case)}, which needs no vote ({known[case]}). Leave it out."
            )
        if case not in asked:
            raise DataError(
                f"{where}: found the case {short(case)}, expected one of the duels, such as "
                f"{short_list(list(asked)[:3])}: the `source` of its row."
            )
        votes.setdefault(asked[case], []).append(WON[vote.winner])
    if not votes:
        raise DataError(f"{path}: found no vote on a duel in it, expected rows with a case and a winner.")
    return votes
