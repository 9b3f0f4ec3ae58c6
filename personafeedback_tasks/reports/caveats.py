"""What forbids or weakens a conclusion from a run, in sentences: the same ones in a report and in a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from .. import TASK_VERSION
from ..common.statistics import Estimate
from ..runs.run import Run

FEW_USERS = 20
"""Below this number of users a report warns of its intervals."""


def caveats(run: Run, name: str = "") -> Iterator[str]:
    """What forbids conclusions from a run, in sentences.

    Args:
        name: what to call it beside others, such as `run A`; the sample is the same for all.
    """
    if run.signature["demonstration"]:
        yield "DEMONSTRATION on the bundled sample: no evidence about a model."
    if run.partial:
        has = f"{name} has " if name else ""
        yield f"PARTIAL: {has}{run.unfinished}. A mean over the beginning of a cell is not the cell's."
    if run.signature["task_version"] != TASK_VERSION and run.rows is not None:
        whose = f" of {name}" if name else ""
        yield (
            f"The replies{whose} were read by task version {run.signature['task_version']}; version {TASK_VERSION}, which is installed, "
            f"reads {run.otherwise:,} of them otherwise."
        )
    if run.signature["counts"] != "table2":
        of = f" of {name}" if name else ""
        yield f"The data{of} were not checked against the paper's number of cases (counts=any)."


def cautions(acc: Estimate) -> Iterator[str]:
    """Where an interval says less than it seems to."""
    if acc.users == 0:
        yield (
            "No answered case stands in the log. A run that was killed may have kept them outside of it: `inspect log recover` "
            "restores them, `inspect eval-retry` goes on from there."
        )
    elif acc.users == 1:
        yield "One user only: no standard error and no interval can be known."
    elif acc.users < FEW_USERS:
        yield (
            f"{acc.users} users only: intervals promise 95 % and hold less. In simulations with 8 users they held the true "
            "value in 87 to 93 %, and in 70 to 83 % at an accuracy of 95 %."
        )
    if acc.stderr == 0:
        yield "Every user has the same acc: a standard error of 0 means that nothing is known about the spread."
