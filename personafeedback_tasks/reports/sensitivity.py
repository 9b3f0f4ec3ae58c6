"""How far a score moves with the wording of the question: runs that differ in prompt or language and in nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..runs.run import SAME, Run
from .report import Report
from .tables import percent

VARIED = ("prompt", "language")


@dataclass(frozen=True)
class Sensitivity:
    """The range of one model's acc over wordings.

    Attributes:
        model: as the harness names it.
        group: the cell, category or total.
        acc: wording (such as `v2` or `v1, language en`) -> acc in [0, 1], from the lowest.
    """

    model: str
    group: str
    acc: dict[str, float]

    @property
    def range(self) -> float:
        """Highest minus lowest acc."""
        values = list(self.acc.values())
        return values[-1] - values[0]

    def __str__(self) -> str:
        (low, lowest), *_, (high, highest) = self.acc.items()
        return (
            f"{self.model}, {self.group.replace('_', ' ')}: acc {percent(lowest)} ({low}) to {percent(highest)} ({high}), "
            f"a range of {percent(self.range)} over {len(self.acc)} wordings"
        )


def sensitivities(reports: Sequence[Report]) -> list[Sensitivity]:
    """The range of every group that some reports share which differ only in the wording, on the same cases."""
    alike: dict[str, list[Report]] = {}
    for report in reports:
        if report.run.rows is not None:
            alike.setdefault(_but_for_wording(report.run), []).append(report)
    found = []
    for some in alike.values():
        if len({_wording(report.run) for report in some}) > 1:
            for group in some[0].groups:
                acc = {_wording(report.run): report.by_name[group.name].measures["acc"].value for report in some}
                found.append(Sensitivity(some[0].run.model, group.name, dict(sorted(acc.items(), key=lambda i: i[1]))))
    return found


def _wording(run: Run) -> str:
    version = str(run.signature["prompt"]).partition("-")[0]
    language = run.signature["language"]
    return version if language == "auto" else f"{version}, language {language}"


def _but_for_wording(run: Run) -> str:
    same = {name: run.signature[name] for name in SAME if name not in VARIED}
    cases = {case_id: row.digest for case_id, row in sorted((run.rows or {}).items())}
    return repr((run.model, run.conditions, same, cases))
