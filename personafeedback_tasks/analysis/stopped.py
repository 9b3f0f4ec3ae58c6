"""The interval of a run that stops when it is decided: that of its sequence, in place of one for a number of users that was fixed."""

from __future__ import annotations

from dataclasses import replace

from ..common.statistics import Estimate
from ..runs.run import Run


def measure_of(run: Run) -> str:
    """The name of what such a run stops by."""
    control = run.benchmark.report.control
    accuracy = run.stopped is not None and run.stopped.accuracy
    return run.benchmark.report.primary if accuracy or control is None else control.of_one_run[0].name


def with_sequence(estimate: Estimate, name: str, run: Run, control: Run | None = None) -> Estimate:
    """An estimate over all cases of a run, with the interval of its sequence where it is what the run stops by.

    Args:
        control: the other run of a difference, which the same log must have.
    """
    known = run.stopped
    if known is None or name != measure_of(run) or estimate.n < len(run.cases):
        return estimate
    if control is not None and (control.stopped != known or control.logs != run.logs):
        return estimate
    return replace(estimate, low=known.interval[0], high=known.interval[1])
