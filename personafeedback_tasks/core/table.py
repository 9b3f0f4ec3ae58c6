"""Results -> every number of a harness's table: over all cases, each cell and each group of cells."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import nan

from ..stats.estimates import clustered_stderr, jackknife_stderr, mean
from .result import CorpusMetric, Result, by_case, over_epochs


def table(
    results: Iterable[Result],
    columns: Callable[[Collection[str]], dict[str, list[str]]],
    corpus: Mapping[str, CorpusMetric],
) -> dict[str, float]:
    """Every metric over all cases (`acc`, `acc_stderr`), and in each cell (`acc_CELL`, ...) and group of cells that is
    less than all.

    The epochs of a case are averaged first; a metric over the corpus sees all of them. Means are weighted by cases,
    standard errors clustered by user. Empty without results.
    """
    in_cell: dict[str, list[list[Result]]] = {}
    for epochs in by_case(results).values():
        in_cell.setdefault(epochs[0].cell, []).append(epochs)
    groups = {f"_{name}": cells for name, cells in columns(in_cell).items() if len(cells) < len(in_cell)}
    found: dict[str, float] = {}
    for group, cells in {"": list(in_cell), **groups}.items():
        of_group = [*chain.from_iterable(in_cell[cell] for cell in cells)]
        cases = over_epochs(of_group)
        users = [case.user_id for case in cases]
        for metric in cases[0].values if cases else ():
            values = [case.values.get(metric, nan) for case in cases]
            found[f"{metric}{group}"] = mean(values)
            found[f"{metric}{group}_stderr"] = clustered_stderr(values, users)
        every = [result for result in chain.from_iterable(of_group) if result.targets]
        for metric, measure in corpus.items() if cases else ():
            found[f"{metric}{group}"] = measure(every)
            found[f"{metric}{group}_stderr"] = corpus_stderr(measure, every)
    return found


def corpus_stderr(measure: CorpusMetric, results: Sequence[Result]) -> float:
    """The standard error of a metric over the corpus: a jackknife that leaves out one user at a time."""
    return jackknife_stderr(measure, results, [result.user_id for result in results])


# --- cases that belong together, such as the two of a pair of users: they count together or not at all ----------------


@dataclass(frozen=True)
class Units:
    """How cases belong together."""

    name: str  # of such a unit: `pair`
    size: int  # cases of a unit
    of: Callable[[str], str]  # case id -> unit id

    def whole(self, ids: Collection[str]) -> list[str]:
        """The cases whose unit is there as a whole, in their order."""
        found = Counter(map(self.of, ids))
        return [case_id for case_id in ids if found[self.of(case_id)] == self.size]


@dataclass(frozen=True)
class UnitMean:
    """A metric over the corpus: the mean over the units of what each shows."""

    units: Units
    # Outcomes of a unit in one epoch -> a value in [0, 1] for each thing that they show; empty if unreadable.
    judged: Callable[[Sequence[Result]], Sequence[float]]

    def __call__(self, outcomes: Sequence[Result]) -> float:
        return mean(mean(values) for values in self.by_unit(outcomes).values())

    def by_unit(self, outcomes: Sequence[Result]) -> Mapping[str, Sequence[float]]:
        """Unit -> its values, of all epochs; units that are not whole are left out."""
        of_epoch: dict[tuple[str, int], list[Result]] = defaultdict(list)
        for outcome in outcomes:
            of_epoch[self.units.of(outcome.case_id), outcome.epoch].append(outcome)
        found: dict[str, list[float]] = defaultdict(list)
        for (unit, _), parts in of_epoch.items():
            if len(parts) == self.units.size:
                found[unit] += self.judged(parts)
        return found
