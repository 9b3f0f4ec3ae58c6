"""A run that is ranked or reported, or a part of it: what every measure is computed from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..core.report import Examined
from ..core.result import Result
from ..logs.run import Run
from ..stats.clusters import Shared
from ..stats.estimates import Estimate, share
from .groups import partners_of


@dataclass(frozen=True)
class Contender:
    """A run that is ranked or reported, or some of its cases."""

    run: Run
    controls: Mapping[str, Run] = field(default_factory=dict)  # value of the control's option -> run, for differences
    texts: Examined | None = None  # facts from the texts of its cases; None without data
    part: Sequence[str] | None = None  # ids of the cases that count, in order; None for all
    plain: bool = False  # whether each cell has the same weight

    @cached_property
    def ids(self) -> Sequence[str]:
        """Ids of its cases, which all runs of a ranking answered."""
        return sorted(self.run.cases) if self.part is None else self.part

    @property
    def results(self) -> list[Result]:
        """Its cases in each epoch."""
        return [result for case_id in self.ids for result in self.run.by_case[case_id]]

    @cached_property
    def users(self) -> list[str]:
        """The user of each case."""
        return [self.run.cases[case_id].user_id for case_id in self.ids]

    @cached_property
    def shared(self) -> Shared | None:
        """Clusters of the cases beside their user, such as a prompt that several users have; None without any."""
        return self.texts.shared(self.ids) if self.texts else partners_of(self.run, self.ids)

    @property
    def cells(self) -> list[str] | None:
        """The cell of each case where cells weigh the same; else None."""
        return [self.run.cases[case_id].cell for case_id in self.ids] if self.plain else None

    @cached_property
    def picks(self) -> list[float]:
        """The share of each case's readable picks that are right; nan without one, or with more than two choices."""
        picked = self.run.benchmark.report.picked
        return [picked(self.run.by_case[case_id]) if picked else math.nan for case_id in self.ids]

    @cached_property
    def scores(self) -> list[float]:
        """The primary measure of each case."""
        return [self.run.cases[case_id].value(self.run.primary) for case_id in self.ids]

    def mean(self, ids: Sequence[str], values: Sequence[float], over: Callable[..., Estimate] = share) -> Estimate:
        """The mean of a value of some of its cases, clustered by user.

        It is undefined where cells weigh the same and one has no case.
        """
        of_ids = replace(self, part=ids)
        if of_ids.cells is not None and {*of_ids.cells} != {*self.run.benchmark.cells}:
            return over([], [])
        return over(values, of_ids.users, of_ids.cells, of_ids.shared)
