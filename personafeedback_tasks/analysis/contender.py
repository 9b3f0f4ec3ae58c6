"""A run that is ranked or reported, or a part of it: what every measure is computed from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..core.method import LabelMethod
from ..core.report import Examined
from ..core.result import Result
from ..logs.run import Run
from ..stats.clusters import Clusters


@dataclass(frozen=True)
class Contender:
    """A run that is ranked or reported, or some of its cases."""

    run: Run
    controls: Mapping[str, Run] = field(default_factory=dict)  # value of the control's option -> run, for differences
    texts: Examined | None = None  # facts from the texts of its cases; None without data
    part: Any = None  # places of the cases that count, among the ids of all in order; None for all
    plain: bool = False  # whether each cell has the same weight

    @cached_property
    def ids(self) -> Sequence[str]:
        """Ids of its cases, which all runs of a ranking answered."""
        every = sorted(self.run.cases)
        return every if self.part is None else [every[place] for place in self.part]

    @property
    def results(self) -> list[Result]:
        """Its cases in each epoch."""
        return [result for case_id in self.ids for result in self.run.by_case[case_id]]

    @property
    def judged(self) -> list[list[Result]]:
        """The results of each case that a corpus metric sees: those with answers, or with rewards and a target."""
        found = []
        for case_id in self.ids:
            epochs = self.run.by_case[case_id]
            found.append([one for one in epochs if one.answers or (one.rewards and one.targets)])
        return found

    @cached_property
    def clusters(self) -> Clusters:
        """Which of its cases are alike: they share a user, on either side, or a prompt, if that is known.

        With their cells, where these weigh the same.
        """
        cases, texts = [self.run.cases[case_id] for case_id in self.ids], self.texts
        of_case = texts.partners if texts else _partners_of(self.run, self.ids)
        return Clusters.of(
            [case.user_id for case in cases],
            [texts.prompts[case_id] for case_id in self.ids] if texts and texts.prompts else (),
            [case.cell for case in cases] if self.plain else (),
            [of_case[case_id] for case_id in self.ids] if of_case else (),
        )

    @cached_property
    def scores(self) -> list[float]:
        """The primary measure of each case."""
        return self.values(self.run.primary)

    @cached_property
    def picks(self) -> list[float]:
        """The share of each case's readable picks that are right; nan without one, or with more than two choices."""
        picked = self.run.benchmark.report.picked
        return [picked(self.run.by_case[case_id]) if picked else math.nan for case_id in self.ids]

    def values(self, measure: str) -> list[float]:
        """A value of each case; nan where it has none."""
        cases = self.run.cases
        return [cases[case_id].values.get(measure, math.nan) for case_id in self.ids]


def has_macro(run: Run) -> bool:
    """Whether the plain mean of the cells is shown: every cell of the benchmark has an answered case."""
    return run.benchmark.report.macro and set(run.answered) == set(run.benchmark.cells)


def groups_of(run: Run, begun: Iterable[str] = ()) -> list[tuple[str, list[str], Any]]:
    """(name, its cells, places of its cases as `Contender.part`) of every cell and group, those `begun` among them."""
    import numpy as np  # the extra `report` brings it

    present = dict.fromkeys([*begun, *(case.cell for case in run.cases.values())])
    of_case = [run.cases[case_id].cell for case_id in sorted(run.cases)]
    found = []
    for name, cells in run.benchmark.columns(present).items():
        places = [place for place, cell in enumerate(of_case) if cell in cells]
        found.append((name, cells, np.array(places, dtype=int)))
    return found


def _partners_of(run: Run, ids: Sequence[str]) -> dict[str, str]:
    """Case id -> the other user of its unit, where cases come in units: known without the texts, unlike prompts."""
    units = run.benchmark.units
    if units is None:
        return {}
    users: dict[str, set[str]] = {}
    for case_id in ids:
        users.setdefault(units.of(case_id), set()).add(run.cases[case_id].user_id)
    found = {}
    for case_id in ids:
        user = run.cases[case_id].user_id
        found[case_id] = max(users[units.of(case_id)] - {user}, default=user)
    return found


def with_scores(run: Run, texts: Examined) -> Examined:
    """A copy of the texts whose baselines include the scores of those that answer."""
    found = dict(texts.baselines)
    for name, cases in answered(run, texts).items():
        found[name] = {case.case_id: case.value(run.primary) for case in cases}
    return replace(texts, baselines=found)


def answered(run: Run, texts: Examined) -> dict[str, list[Result]]:
    """Name of a baseline -> its answers to each case of the run; empty for a method that reads no answers."""
    method = run.method
    if not isinstance(method, LabelMethod):
        return {}
    found: dict[str, list[Result]] = {}
    for name, said in texts.constant.items():
        found[name] = []
        for case in run.cases.values():
            found[name].append(case.changed(answers=said, values=method.score(case.targets, said), unread=()))
    return found
