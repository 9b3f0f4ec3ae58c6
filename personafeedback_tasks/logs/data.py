"""Finds the data that runs were made on, and opens runs with a check against these."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..common.errors import DataError, OptionError
from ..core.cases import CaseSet, shown_source
from ..core.report import Examined
from .caveat import FORBIDS, WEAKENS, Caveat
from .compare import checked, refuse_other_data
from .errors import RunError
from .read import read_runs
from .run import Run

Found = tuple[CaseSet[Any] | None, str]
"""The cases of a run's data, or why they are missing."""


class RunData:
    """The data of the option --data. Each source is read once per command, and its texts are examined once."""

    def __init__(self, named: str | None) -> None:
        """
        Args:
            named: the option; None tries the source that a log names, then the benchmark's environment variable.
        """
        self.named = named
        self.fits = False
        """Whether these are the data of a run that was checked."""
        self.misfit = ""
        """Error of the first run for which these data were broken."""
        self._loaded: dict[tuple[str, str, str], CaseSet[Any]] = {}
        self._texts: dict[tuple[int, frozenset[str]], Examined] = {}
        self._differing: set[str] = set()  # reasons why data that are there are not those of a run
        self._of: dict[int, tuple[Run, CaseSet[Any] | None, str]] = {}  # with the run, so that its id stays its own

    def of(self, run: Run) -> Found:
        """The cases of a run, or why they are missing. Raises DataError if the data that the user named are broken."""
        if id(run) not in self._of:
            self._of[id(run)] = (run, *self._find(run))
        return self._of[id(run)][1:]

    def _find(self, run: Run) -> Found:
        spec, logged = run.benchmark.report, run.signature.source
        if spec.load is None:
            return None, ""  # its cases are made of an earlier run
        under = spec.under or (lambda cases, signature: cases)
        if self.named is not None:
            return under(self._load(run, spec.load, self.named), run.signature), ""
        why_not = ""
        for place in dict.fromkeys((logged, os.environ.get(spec.environment) or logged)):
            try:
                cases = under(self._load(run, spec.load, place), run.signature)
                refuse_other_data(run, cases)
            except (DataError, RunError) as error:
                why_not = why_not or str(error).replace(place, shown_source(place))  # documents quote it
                if isinstance(error, RunError):
                    self._differing.add(why_not)
            else:
                return cases, ""
        return None, why_not

    def checked(self, run: Run) -> Run:
        """The run, checked against its data if they are there.

        Raises:
            DataError, RunError: the data that the user named are broken or of another run, or prompts do not fit the
                options.
        """
        try:
            cases, why_not = self.of(run)
            found = run if cases is None else checked(run, cases)
        except DataError as error:
            self.misfit = self.misfit or str(error)
            raise
        self.fits = True
        if why_not in self._differing:
            return replace(run, unchecked=(*run.unchecked, Caveat("no_data", FORBIDS, {"why": why_not})))
        if run.benchmark.report.load is None and run.asked:
            why = "its cases are made of an earlier run."
            unknown = Caveat("prompts_unchecked", WEAKENS, {"log": run.logs[0].name, "why": why})
            return replace(run, asked=None, unchecked=(*run.unchecked, unknown))
        return found

    def texts(self, run: Run) -> Examined | None:
        """Facts from the texts of the run's cases; None without data."""
        cases, _ = self.of(run)
        examine = run.benchmark.report.examine
        if cases is None or examine is None:
            return None
        key = (id(cases), frozenset(run.cases))
        if key not in self._texts:
            self._texts[key] = examine(cases, run.cases.keys())
        return self._texts[key]

    def _load(self, run: Run, load: Callable[[str, str], CaseSet[Any]], place: str) -> CaseSet[Any]:
        key = (run.benchmark.name, place, run.signature.counts)
        if key not in self._loaded:
            self._loaded[key] = load(place, run.signature.counts)
        return self._loaded[key]


def first_with(run: Run, data: Sequence[RunData]) -> RunData:
    """The first place that has the data of a run; the last if none has."""
    return next((place for place in data[:-1] if _found(run, place)[0] is not None), data[-1])


def cases_of(run: Run, data: Sequence[RunData]) -> Found:
    """The cases of a run, from the first place that has them."""
    found: Found = None, ""
    for place in data:
        if (found := _found(run, place))[0] is not None:
            break
    return found


def _found(run: Run, place: RunData) -> Found:
    try:
        place.checked(replace(run, asked=None))
        return place.of(run)
    except (DataError, RunError) as error:
        return None, str(error)


def refuse_misfits(data: Sequence[RunData]) -> None:
    """Raise OptionError if a place that the user named is broken and has the data of none of the runs."""
    for place in data:
        if place.named is not None and place.misfit and not place.fits:
            raise OptionError(f"--data {place.named}: found the data of none of these runs. {place.misfit}")


def opened(
    paths: Sequence[str | Path],
    data: Sequence[RunData] = (),
    say: Callable[[str], object] = lambda line: None,
    reading: Callable[[Path], object] = lambda path: None,
) -> list[Run]:
    """Runs of files and folders, checked against their data if these are there; the only way to read logs for numbers.

    Args:
        data: places to look in; the last counts where no other fits. Empty: what a log or the environment names.
        say: gets one line per log that is passed over.
        reading: gets each file before it is read.
    """
    places = data or (RunData(None),)
    return [first_with(run, places).checked(run) for run in read_runs(paths, say, reading)]
