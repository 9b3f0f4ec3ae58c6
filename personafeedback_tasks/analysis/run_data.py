"""The data that runs were made on, found again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

from ..common import foreign
from ..common.errors import DataError, OptionError
from ..engine.cases import CaseSet
from ..engine.report import Examined
from ..runs.asked import checked, refuse_other_data
from ..runs.run import Run, RunError
from .measures import Contender
from .ranking import Ranking, alike, make_ranking

Found = tuple[CaseSet[Any] | None, str]
"""The cases of a run's data, or why they are not at hand."""


class RunData:
    """What the option --data stands for. Each source is read once per command, and its texts are examined once."""

    def __init__(self, named: str | None) -> None:
        """Args:
        named: the option; None tries the source that a log names, then the benchmark's environment variable.
        """
        self.named = named
        self.fits = False
        """Whether these are the data of a run that was checked."""
        self.misfit = ""
        """Why they are not those of the first run that they do not fit."""
        self._loaded: dict[tuple[str, str, str], CaseSet[Any]] = {}
        self._texts: dict[tuple[int, frozenset[str]], Examined] = {}
        self._of: dict[int, tuple[Run, CaseSet[Any] | None, str]] = {}  # with the run, so that its id stays its own

    def of(self, run: Run) -> Found:
        """The cases of a run, see `Found`.

        Raises:
            DataError: the data that the user named are broken.
        """
        if id(run) not in self._of:
            self._of[id(run)] = (run, *self._find(run))
        return self._of[id(run)][1:]

    def _find(self, run: Run) -> Found:
        spec, logged = run.benchmark.report, run.signature["source"]
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
                why_not = why_not or reason(error, run, place)
            else:
                return cases, ""
        return None, why_not

    def checked(self, run: Run) -> Run:
        """The run, checked against its data if they are there.

        Raises:
            DataError, RunError: the data that the user named are broken, or of another run; or its prompts are not those of its options.
        """
        try:
            cases, _ = self.of(run)
            found = run if cases is None else checked(run, cases)
        except (DataError, RunError) as error:
            self.misfit = self.misfit or str(error)
            raise
        self.fits = True
        return found

    def texts(self, run: Run) -> Examined | None:
        """What the texts of the run's cases add to its answers; None without data."""
        cases, _ = self.of(run)
        examine = run.benchmark.report.examine
        if cases is None or examine is None:
            return None
        key = (id(cases), frozenset(run.cases))
        if key not in self._texts:
            self._texts[key] = examine(cases, run.cases.keys())
        return self._texts[key]

    def _load(self, run: Run, load: Callable[[str, str], CaseSet[Any]], place: str) -> CaseSet[Any]:
        key = (run.benchmark.name, place, run.signature["counts"])
        if key not in self._loaded:
            self._loaded[key] = load(place, run.signature["counts"])
        return self._loaded[key]


def reason(error: Exception, run: Run, place: str = "") -> str:
    """Why the data of a run are not at hand, as reports and pages print it: without the folders of this machine."""
    places = [place, os.path.abspath(place)] if place else []
    return foreign.without_folders(str(error), run.signature["source"], *places, *map(str, run.logs))


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
        place.checked(run)
        return place.of(run)
    except (DataError, RunError) as error:
        return None, reason(error, run, place.named or "")


def refuse_misfits(data: Sequence[RunData]) -> None:
    """Raise OptionError if a place that the user named was tried and has the data of none of the runs, perhaps since it is broken."""
    for place in data:
        if place.named is not None and place.misfit and not place.fits:
            raise OptionError(f"--data {place.named}: found the data of none of these runs. {place.misfit}")


def _scored(some: Sequence[Contender]) -> list[Sequence[Contender]]:
    """Those with a score together, and each of the others, in whose cases nobody says what is right, for itself."""
    scored = [one for one in some if not one.run.cases or not all(map(isnan, one.run.values(one.run.primary).values()))]
    return [*([scored] if scored else []), *([one] for one in some if one not in scored)]


def ranked(contenders: Sequence[Contender], data: Sequence[RunData]) -> list[Ranking]:
    """The rankings of some runs.

    Args:
        data: where their data may be; the last place counts where no other fits.

    Raises:
        DataError, RunError: see `RunData.checked`.
    """
    rankings = []
    for some in (part for group in alike(contenders) for part in _scored(group)):
        place = first_with(some[0].run, data)
        found, why_not = place.of(some[0].run)
        checked = [
            replace(
                one,
                run=place.checked(one.run),
                controls={value: place.checked(control) for value, control in one.controls.items()},
            )
            for one in some
        ]
        rankings.append(make_ranking(checked, place.texts(some[0].run), found, why_not))
    return rankings
