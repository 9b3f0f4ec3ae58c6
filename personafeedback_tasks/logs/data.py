"""Finds the data that runs were made on, and opens runs with a check against these."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from ..common.errors import DataError, OptionError
from ..core.cases import CaseSet, shown_source
from ..core.report import Examined
from .caveat import FORBIDS, WEAKENS, caveat
from .compare import Prompts, refuse_other_data, with_prompts_checked
from .errors import RunError
from .read import read_runs
from .run import Run

Found = tuple[CaseSet[Any] | None, str]
"""The cases of a run's data, or why they are missing."""


class RunData:
    """The data of runs: in the places that --data names, else where a log or the benchmark's environment variable says.

    Each place is read once per command, and its texts are examined once.
    """

    def __init__(self, *named: str | Path | None, anywhere: bool = False) -> None:
        """
        Args:
            named: places; each run takes the first that has its data. None is left out.
            anywhere: whether a run whose data are in no named place may have them elsewhere.
        """
        self.named = [str(place) for place in named if place is not None]
        self.anywhere = anywhere or not self.named
        self._fits: set[str] = set()  # named places that have the data of a run
        self._misfits: dict[str, DataError | RunError] = {}  # named place -> error of the first run whose data it lacks
        self._elsewhere: dict[Path, DataError | RunError] = {}  # log -> why no named place has its data
        self._differing: set[str] = set()  # reasons why data that are there are not those of a run
        self._loaded: dict[tuple[str, str, str], CaseSet[Any]] = {}
        self._texts: dict[tuple[int, frozenset[str]], Examined] = {}
        self._of: dict[Run, Found] = {}
        self._prompts: Prompts = {}  # of the cases in `_of`

    def of(self, run: Run) -> Found:
        """The cases of a run, or why they are missing. Raises DataError, RunError: they must be in a named place."""
        if run not in self._of:
            self._of[run] = self._find(run)
        return self._of[run]

    def _find(self, run: Run) -> Found:
        spec, logged = run.benchmark.report, run.signature.source
        if spec.load is None:
            return None, ""  # its cases are made of an earlier run
        for place in self.named:
            try:
                cases = self._in(place, run)
            except (DataError, RunError) as error:
                self._misfits.setdefault(place, error)
                lacking = error
                if not self.anywhere and place == self.named[-1]:
                    raise
            else:
                self._fits.add(place)
                return cases, ""
        if self.named:
            self._elsewhere.setdefault(run.logs[0], lacking)
        why_not = ""
        for place in dict.fromkeys((logged, os.environ.get(spec.environment) or logged)):
            try:
                return self._in(place, run), ""
            except (DataError, RunError) as error:
                why_not = why_not or str(error).replace(place, shown_source(place))  # documents quote it
                if isinstance(error, RunError):
                    self._differing.add(why_not)
        return None, why_not

    def _in(self, place: str, run: Run) -> CaseSet[Any]:
        spec = run.benchmark.report
        key = (run.benchmark.name, place, run.signature.counts)
        if key not in self._loaded:
            assert spec.load is not None
            self._loaded[key] = spec.load(place, run.signature.counts)
        cases = self._loaded[key]
        if spec.under is not None:
            cases = spec.under(cases, run.signature)
        refuse_other_data(run, cases)
        return cases

    def checked(self, run: Run) -> Run:
        """The run, checked against its data if they are there.

        Raises:
            DataError, RunError: its data must be in a named place and are not, or prompts do not fit the options.
        """
        cases, why_not = self.of(run)
        if cases is not None:
            checked = with_prompts_checked(run, cases, self._prompts)
            self._of[checked] = cases, ""
            return checked
        if why_not in self._differing:
            return run.said(unchecked=(*run.unchecked, caveat("no_data", FORBIDS, why=why_not)))
        if run.benchmark.report.load is None and run.asked:
            why = "its cases are made of an earlier run."
            unknown = caveat("prompts_unchecked", WEAKENS, log=run.logs[0].name, why=why)
            return run.said(asked=None, unchecked=(*run.unchecked, unknown))
        return run

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

    def refuse_misfits(self, say: Callable[[str], object]) -> None:
        """Raise OptionError if the named places have the data of none of the runs, or one is broken.

        Args:
            say: gets a line if they have the data of some runs only.
        """
        for place, error in self._misfits.items():
            if place not in self._fits and (isinstance(error, DataError) or not self._fits):
                raise OptionError(f"--data {place}: found the data of none of these runs. {error}")
        if self._elsewhere:
            log, error = next(iter(self._elsewhere.items()))
            others = f" and {len(self._elsewhere) - 1:,} more" if len(self._elsewhere) > 1 else ""
            say(
                f"--data {' --data '.join(self.named)}: found the data of some of these runs, expected those of all. "
                f"The data of {log}{others} are taken from where their logs say, if they are there. {error}"
            )


def opened(
    paths: Sequence[str | Path],
    data: RunData | None = None,
    say: Callable[[str], object] = lambda line: None,
    reading: Callable[[Path], object] = lambda path: None,
    benchmarks: Collection[str] = (),
) -> list[Run]:
    """Runs of files and folders, checked against their data if these are there; the only way to read logs for numbers.

    Args:
        data: where they may be; None for where a log or the environment says.
        say: gets one line per log that is skipped.
        reading: gets each file before it is read.
        benchmarks: those whose runs are needed, empty for all.
    """
    data = data or RunData()
    return [data.checked(run) for run in read_runs(paths, say, reading, benchmarks)]
