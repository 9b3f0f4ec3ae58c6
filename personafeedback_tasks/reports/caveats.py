"""Sentences about what forbids or weakens a conclusion from a run: the same in a report and in a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..common.statistics import Estimate
from ..engine.cases import CaseSet
from ..runs.run import Run
from .shortcuts import ONE_OF_THEM, Shortcuts

FEW_USERS = 20
"""Below this number of users a report warns of its intervals."""


def of_run(run: Run, name: str = "") -> Iterator[str]:
    """What forbids conclusions from a run.

    Args:
        name: its name beside other runs, such as `run A`; the sample is the same for all.
    """
    installed = run.benchmark.version
    if run.signature["demonstration"]:
        yield "DEMONSTRATION on the bundled sample: not evidence about any model."
    if run.partial:
        has = f"{name} has " if name else ""
        yield f"PARTIAL: {has}{run.unfinished}. A partial mean does not estimate the cell's mean."
    if run.signature["task_version"] != installed:
        whose = f" of {name}" if name else ""
        yield (
            f"The replies{whose} were read by task version {run.signature['task_version']}; the installed "
            f"version {installed} reads {run.otherwise:,} of them differently."
        )
    yield from run.unchecked
    if run.signature["counts"] == "any" != run.benchmark.options.counts:  # of some benchmarks nobody knows the number
        of = f" of {name}" if name else ""
        yield f"The number of cases in the data{of} was not checked (counts=any)."


def of_data(run: Run, cases: CaseSet[Any]) -> Iterator[str]:
    """Where the data of a report have the cases of the run, but are not the data of the run in every file."""
    if cases.digest != run.signature["data"]:
        yield (
            f"The data that were read for this report (sha256 {cases.digest}) are not those of the run (sha256 "
            f"{run.signature['data']}): every case of the run has the same texts in both, but other cells or personas differ. The "
            "audit and the label ceiling are those of the former."
        )


def of_interval(estimate: Estimate) -> Iterator[str]:
    """Where an interval is less reliable than it looks."""
    if estimate.users == 0:
        yield (
            "The log contains no answered case. A killed run may have kept them elsewhere: `inspect log recover` "
            "restores them, `inspect eval-retry` resumes the run."
        )
    elif estimate.users == 1:
        yield "Only one user: no standard error and no interval."
    elif estimate.users < FEW_USERS:
        yield (
            f"Only {estimate.users} users: 95 % intervals are rough. In simulations with 8 users they covered the true value in 94 to "
            "98 % of runs, and in 87 % where users differ much and the accuracy is 95 %."
        )
    if estimate.stderr == 0:
        yield "All users have the same score: a standard error of 0 says nothing about the spread."


def of_shortcuts(found: Shortcuts | None, picks: Mapping[str, str]) -> Iterator[str]:
    """Which baselines the run is.

    Args:
        picks: name -> what it picks, for a sentence.
    """
    for name, agreement in (found.baselines if found else {}).items():
        if agreement.all > ONE_OF_THEM:
            yield (
                f"The run picks {picks[name]} in {100 * agreement.all:.1f} % of the cases: its accuracy is that of the "
                f"baseline {name}, which understands nothing."
            )


def of_control(control: Run, value: str) -> Iterator[str]:
    """What weakens a difference to this control. A reply that cannot be read counts as wrong, and so makes a gain.

    Args:
        value: of the control's option.
    """
    yield from control.unchecked
    if control.partial:
        yield f"PARTIAL control {value}: {control.unfinished}."
    if share := unreadable_share(control):
        yield (
            f"{100 * share:.1f} % of the replies of the control {value} are unreadable and count as wrong, which inflates "
            "the difference to it."
        )


def unreadable_share(run: Run) -> float:
    """Share of a run's replies that are neither a label nor a refusal; 0 without replies."""
    answers = [answer for case in run.cases.values() for epoch in case.answers for answer in epoch]
    labels = (*run.benchmark.labels, "refusal")
    return sum(answer not in labels for answer in answers) / len(answers) if answers else 0.0
