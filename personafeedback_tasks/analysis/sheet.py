"""Runs of one model that differ in what it is told, side by side: the question of the paper's Figure 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from ..core.report import Difference
from ..logs.errors import RunError
from ..logs.run import Run
from ..stats.estimates import Estimate, paired, share
from .control import named_differences, with_sequence
from .place import cannot_move
from .void import is_void

MACRO = "macro"
"""Name of the column whose cells weigh the same."""


@dataclass(frozen=True)
class SheetColumn:
    """The cases of one group that every run answered; a difference is over those that its two runs answered.

    Attributes:
        cases: that all runs answered.
        name: `general_hard`, `general`, `total`, `macro`.
        scores: name of a run -> its primary measure.
        differences: `rag - no_persona` -> the first minus the second, paired by case.
    """

    name: str
    cases: int
    scores: Mapping[str, Estimate]
    differences: Mapping[str, Estimate]


@dataclass(frozen=True)
class Sheet:
    """Several runs on the same cases."""

    runs: Mapping[str, Run]  # name -> run, from the one that is told most
    columns: tuple[SheetColumn, ...]
    left_out: int  # number of cases that not every run answered

    @property
    def named(self) -> dict[str, Difference]:
        """The differences that have a name, by key: `persona - other_persona`."""
        control = next(iter(self.runs.values())).benchmark.report.control
        assert control is not None  # see `make_sheet`
        named = {difference(one.more, one.less): one for one in control.named}
        return {name: named[name] for name in self.columns[0].differences if name in named}

    def named_in(self, group: str) -> dict[str, Estimate]:
        """Name of a difference -> its value in a column; empty where no run has one of the column's cases."""
        columns = (column.differences for column in self.columns if column.name == group)
        return {named.name: values[name] for values in columns for name, named in self.named.items()}


def difference(more: str, less: str) -> str:
    """Key of a column's difference."""
    return f"{more} - {less}"


def make_sheet(
    run: Run, others: Mapping[str, Run], groups: Sequence[tuple[str, Sequence[str]]], with_macro: bool
) -> Sheet:
    """The run beside others.

    Args:
        others: value of the option -> run; each `refuse_other_control` accepted.
        groups: (name, ids of the cases of the run) of each column.
        with_macro: whether the last group's plain mean of the cells is a column too.

    Raises:
        RunError: no case was answered by all of them.
    """
    spec = run.benchmark.report.control
    assert spec is not None  # the caller refused others without one
    runs = {str(run.signature.options[spec.option]): run, **others}
    common = set.intersection(*(set(one.cases) for one in runs.values()))
    if not common:
        logs = ", ".join(str(one.logs[0]) for one in runs.values())
        raise RunError(f"{logs}: found no case in all of them, expected runs of the same cells.")
    there = [(name, [case_id for case_id in ids if case_id in common]) for name, ids in groups]
    columns = [
        _column(name, there, runs, every) for (name, there), (_, every) in zip(there, groups, strict=True) if there
    ]
    if with_macro:
        _, ids = there[-1]
        cells = [run.cases[case_id].cell for case_id in ids]
        if set(cells) == set(run.benchmark.cells):
            columns.append(_column(MACRO, ids, runs, ids, cells))
    return Sheet(runs, tuple(columns), len(set().union(*(one.cases for one in runs.values())) - common))


def _column(
    name: str, ids: Sequence[str], runs: Mapping[str, Run], every: Sequence[str], cells: Sequence[str] | None = None
) -> SheetColumn:
    first = next(iter(runs.values()))
    users = [first.cases[case_id].user_id for case_id in ids]
    scores = {
        label: share([run.cases[case_id].value(run.primary) for case_id in ids], users, cells)
        for label, run in runs.items()
    }

    def minus(a: str, b: str) -> Estimate:
        one, other = runs[a], runs[b]
        both = [case_id for case_id in every if case_id in one.cases and case_id in other.cases]
        if is_void(first, one, other) or cannot_move((one, other), both):
            return paired([], [])  # not measured
        gaps = [one.cases[case_id].value(one.primary) - other.cases[case_id].value(other.primary) for case_id in both]
        found = paired(gaps, [one.cases[case_id].user_id for case_id in both], cells)
        if cells is not None:
            return found
        names = {value: name for name, value in named_differences(runs[a]).items()}
        return with_sequence(found, names.get(runs[b].setting, ""), runs[a], runs[b])

    return SheetColumn(name, len(ids), scores, {difference(a, b): minus(a, b) for a, b in combinations(runs, 2)})
