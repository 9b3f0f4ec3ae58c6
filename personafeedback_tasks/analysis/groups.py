"""The rows of a report: each cell, the groups of several cells, and their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from ..core.benchmark import Benchmark
from ..core.result import CorpusMetric, Result
from ..core.table import UnitMean
from ..logs.run import Run
from ..stats.clusters import Shared
from ..stats.estimates import Estimate, estimate, estimate_of, mean, share


@dataclass(frozen=True)
class Group:
    """One row of a report: a cell, a group of cells, or all.

    Attributes:
        name: `general_hard`, `general`, `total`.
        cases: answered cases.
        of: how many the data have.
        users: of the answered cases.
        replies: number of replies read; 0 for a reward model.
        reasons: why replies are unreadable -> how many.
        measures: key of a measure -> its value; without those that no group of the report has.
    """

    name: str
    cases: int
    of: int
    users: int
    replies: int
    reasons: Mapping[str, int]
    measures: Mapping[str, Estimate]


def has_macro(run: Run) -> bool:
    """Whether the plain mean of the cells is shown: every cell of the benchmark has an answered case."""
    return run.benchmark.report.macro and set(run.answered) == set(run.benchmark.cells)


def groups_of(run: Run, begun: Iterable[str] = ()) -> list[tuple[str, list[str], list[str]]]:
    """(name, its cells, ids of its answered cases in order) of every cell and group; cells `begun` may have no ids."""
    ids: dict[str, list[str]] = {cell: [] for cell in begun}
    for case in run.cases.values():
        ids.setdefault(case.cell, []).append(case.case_id)
    columns = run.benchmark.columns(ids)
    return [(name, cells, sorted(chain.from_iterable(ids[cell] for cell in cells))) for name, cells in columns.items()]


def measure_of(
    name: str,
    benchmark: Benchmark,
    cases: Sequence[Result],
    epochs: Sequence[Sequence[Result]],
    strata: Sequence[str] | None = None,
    also: Shared | None = None,
) -> Estimate:
    """A measure of the benchmark over some cases: the mean of their values, or one over the corpus; else undefined.

    Args:
        cases: each over its epochs.
        epochs: the results of each case.
        strata: the cell of each case, for means that weigh cells equally.
        also: cluster of each case beside its user.
    """
    users, line, over = [case.user_id for case in cases], benchmark.report.line(name), benchmark.corpus.get(name)
    if not cases or (over is None and name not in benchmark.measures):
        return share([], [])
    if over is None:
        return (share if line.is_share else estimate)([case.value(name) for case in cases], users, strata, also)
    if isinstance(over, UnitMean):
        by_unit = over.by_unit([result for of_case in epochs for result in of_case])
        values = [mean(by_unit.get(over.units.of(case.case_id), ())) for case in cases]
        return replace(share(values, users, strata, also), n=sum(map(len, by_unit.values())))
    return estimate_of(partial(_over_cases, over), list(map(judged, epochs)), users, line.ends, also)


def _over_cases(measure: CorpusMetric, epochs: Sequence[Sequence[Result]]) -> float:
    return measure([result for of_case in epochs for result in of_case])


def judged(results: Sequence[Result]) -> list[Result]:
    """The results that a corpus metric sees: those with answers, or with rewards and a target."""
    return [result for result in results if result.answers or (result.rewards and result.targets)]
