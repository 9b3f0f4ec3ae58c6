"""How far a score moves with the wording of the question: runs that differ in prompt or language and in nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from ..runs.run import Run
from .report import Report


def by_wording(reports: Sequence[Report]) -> list[dict[str, Report]]:
    """The reports of one model that differ only in the wording, on the same cases: wording (such as `v2` or `v1, language en`) ->
    report, the lowest score first."""
    alike: dict[str, dict[str, Report]] = {}
    for report in reports:
        if report.run.benchmark.report.wording:
            alike.setdefault(_but_for_wording(report.run), {})[_wording(report.run)] = report
    return [
        dict(sorted(of_wording.items(), key=lambda item: item[1].overall.measures[item[1].run.primary].value))
        for of_wording in alike.values()
        if len(of_wording) > 1
    ]


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
