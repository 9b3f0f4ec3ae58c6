"""How far a score moves with the wording of the question: runs that differ in prompt or language and in nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..common.paired_tests import range_by_chance
from ..common.statistics import user_sums
from ..runs.run import Run
from .groups import groups_of
from .report import Report


@dataclass(frozen=True)
class Sensitivity:
    """The range of one model's score over wordings.

    Attributes:
        group: the cell, category or total.
        measure: of the score, see `Run.primary`.
        acc: wording (such as `v2` or `v1, language en`) -> score in [0, 1], from the lowest.
        chance: the mean range of wordings that are equally good.
        p: of "these are", see `paired_tests.range_by_chance`.
    """

    model: str
    group: str
    measure: str
    acc: dict[str, float]
    chance: float
    p: float

    @property
    def range(self) -> float:
        """Highest minus lowest score."""
        values = list(self.acc.values())
        return values[-1] - values[0]


def sensitivities(reports: Sequence[Report]) -> list[Sensitivity]:
    """The range of every group that some reports share which differ only in the wording, on the same cases."""
    alike: dict[str, list[Report]] = {}
    for report in reports:
        if report.run.benchmark.report.wording:
            alike.setdefault(_but_for_wording(report.run), []).append(report)
    found = []
    for some in alike.values():
        if len({_wording(report.run) for report in some}) > 1:
            for group in some[0].groups:
                score = {
                    _wording(report.run): report.by_name[group.name].measures[report.run.primary].value
                    for report in some
                }
                ordered = dict(sorted(score.items(), key=lambda item: item[1]))
                chance, p = _by_chance([report.run for report in some], group.name)
                found.append(Sensitivity(some[0].run.model, group.name, some[0].run.primary, ordered, chance, p))
    return found


def _by_chance(runs: Sequence[Run], group: str) -> tuple[float, float]:
    """See `Sensitivity`; the runs have the same cases."""
    first = runs[0]
    (ids,) = (ids for name, _, ids in groups_of(first.cases.values(), (), first.benchmark) if name == group)
    users = [first.cases[case_id].user_id for case_id in ids]
    sums = [user_sums([run.cases[case_id].value(run.primary) for case_id in ids], users) for run in runs]
    chance, p = range_by_chance([list(of_run.values()) for of_run in sums])
    return chance / len(ids), p


def _wording(run: Run) -> str:
    """`v1`, or `v1, language en`."""
    first, *others = run.benchmark.report.wording
    changed = run.benchmark.options.changed(run.signature)
    return ", ".join([str(run.signature[first]), *(f"{name} {changed[name]}" for name in others if name in changed)])


def _but_for_wording(run: Run) -> str:
    varied = (*run.benchmark.report.wording, "fingerprint")
    same = {name: value for name, value in run.same.items() if name not in varied}
    cases = {case_id: case.digest for case_id, case in sorted(run.cases.items())}
    return repr((same, cases))
