"""Cases that belong together, such as the two of a pair of users: they count together or not at all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ..stats.estimates import mean
from .result import Result


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
