"""The rows of a report: each cell, the groups of several cells, and their numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..core.benchmark import Benchmark
from ..core.result import CorpusMetric, Result, by_case, over_epochs
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


def groups_of(
    cases: Iterable[Result], begun: Iterable[str], benchmark: Benchmark
) -> list[tuple[str, list[str], list[str]]]:
    """(name, its cells, ids of its answered cases in order) of every cell and group; cells `begun` may have no ids."""
    ids: dict[str, list[str]] = {cell: [] for cell in begun}
    for case in cases:
        ids.setdefault(case.cell, []).append(case.case_id)
    return [
        (name, cells, sorted(case_id for cell in cells for case_id in ids[cell]))
        for name, cells in benchmark.columns(ids).items()
    ]


def measures_of(
    benchmark: Benchmark,
    results: Sequence[Result],
    strata: Sequence[str] | None = None,
    only: Collection[str] | None = None,
    also: Shared | None = None,
) -> dict[str, Estimate]:
    """Every measure over some cases: means of values, and those over the corpus.

    Args:
        strata: the cell of each case, for means that weigh cells equally.
        only: names of the wanted measures; None for all.
        also: cluster of each case beside its user.
    """
    cases = list(map(over_epochs, by_case(results).values()))
    users = [case.user_id for case in cases]
    found = {}
    for measure in benchmark.measures:
        if only is None or measure in only:
            over_cases = share if benchmark.report.line(measure).is_share else estimate
            found[measure] = over_cases([case.value(measure) for case in cases], users, strata, also)
    for measure, over in benchmark.corpus.items():
        if not cases or (only is not None and measure not in only):
            continue
        if isinstance(over, UnitMean):
            by_unit = over.by_unit(results)
            of_cases = [mean(by_unit.get(over.units.of(case.case_id), ())) for case in cases]
            found[measure] = replace(share(of_cases, users, strata, also), n=sum(map(len, by_unit.values())))
        else:
            epochs = [judged(of_case) for of_case in by_case(results).values()]
            ends = benchmark.report.line(measure).ends
            found[measure] = estimate_of(partial(_over_cases, over), epochs, users, ends, also)
    return found if cases else dict.fromkeys(only or (), share([], []))


def _over_cases(measure: CorpusMetric, epochs: Sequence[Sequence[Result]]) -> float:
    return measure([result for of_case in epochs for result in of_case])


def judged(results: Sequence[Result]) -> list[Result]:
    """The results that a corpus metric sees: those with answers, or with rewards and a target."""
    return [result for result in results if result.answers or (result.rewards and result.targets)]


def partners_of(run: Run, ids: Sequence[str]) -> Shared | None:
    """The other user of each case's unit, where cases come in units: known without the texts, unlike prompts."""
    units = run.benchmark.units
    if units is None:
        return None
    users: dict[str, set[str]] = {}
    for case_id in ids:
        users.setdefault(units.of(case_id), set()).add(run.cases[case_id].user_id)
    own = [(run.cases[case_id].user_id, users[units.of(case_id)]) for case_id in ids]
    return Shared([""] * len(own), [max(of_unit - {user}, default=user) for user, of_unit in own])
