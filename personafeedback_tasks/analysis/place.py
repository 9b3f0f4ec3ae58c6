"""Does a run answer by place? Replies of a model that always picks the first response show nothing that it knows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..core.method import Method
from ..core.result import Result
from ..logs.run import Run
from ..stats.estimates import Estimate, mean, share

MOST, OFTEN = 0.5, 0.9
"""Shares above which place decides: of the cases answered by place, and of the calls that pick one place."""


@dataclass(frozen=True)
class Place:
    """How far place decides a run's picks."""

    name: str  # of the place that is picked most: `first`
    calls: Estimate  # share of the readable picks in that place, mean over cases
    # share of the cases in which every order picks the same place, among those with all replies readable. Of two
    # responses, consistency is the rest.
    cases: Estimate

    @property
    def decides(self) -> bool:
        """Whether the whole interval of `cases` is above MOST, or that of `calls` above OFTEN.

        The estimate counts where there is no interval, and where it is 1.
        """
        return any(
            found.value == 1 or (found.value if math.isnan(found.low) else found.low) > bound
            for found, bound in ((self.cases, MOST), (self.calls, OFTEN))
        )


def place_of(run: Run) -> Place | None:
    """The place of a run's picks; None where no reply picks one: rewards, and benchmarks without orders."""
    labels = run.benchmark.labels
    users = [case.user_id for case in run.cases.values()]
    picks = [[one for result in epochs for one in result.answers if one in labels] for epochs in run.by_case.values()]
    found = []
    for name, label in zip(run.benchmark.report.places, labels, strict=False):
        found.append((name, share([mean(float(one == label) for one in of_case) for of_case in picks], users)))
    if not found or not any(picks):
        return None
    same = [_of_same_place(epochs, labels) for epochs in run.by_case.values()]
    name, calls = max(found, key=lambda item: item[1].value)
    return Place(name, calls, share(same, users))


def _of_same_place(epochs: Iterable[Result], labels: Iterable[str]) -> float:
    return mean(float(len({*result.answers}) == 1) for result in epochs if {*result.answers} <= {*labels})


def by_place(run: Run) -> bool:
    """Whether place decides a run's score: log-odds cancel it, but nothing is left if they are tied in every case."""
    place = place_of(run)
    return place is not None and place.decides and (not run.method.primary or cannot_move([run], run.cases))


def cannot_move(runs: Iterable[Run], ids: Iterable[str]) -> bool:
    """Whether place answers all cases: then scores are chance whatever the runs know, and their difference is 0."""
    ids = list(ids)
    return bool(ids) and all(
        run.cases[case_id].value(run.primary) == run.benchmark.report.chance
        and _of_same_place(run.by_case[case_id], run.benchmark.labels) == 1
        for run in runs
        for case_id in ids
    )


def place_free(run: Run) -> list[Method]:
    """The methods in whose score place cancels; empty where the run's own is one."""
    return [] if run.method.primary else [method for method in run.benchmark.methods.values() if method.primary]
