"""Reasons that forbid or weaken a conclusion from a run, the same in every command."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..core.cases import CaseSet
from ..core.messages import UNREADABLE_SHARE
from ..logs.caveat import FORBIDS, NAMED, VOID, WEAKENS, Caveat, caveat, ordered
from ..logs.errors import advice, state_of
from ..logs.run import Run
from ..stats.estimates import Estimate
from . import void
from .contender import Contender
from .control import named_differences
from .measures import shared_picks
from .users import FEW_USERS
from .void import MOST_MISSING, MOST_UNREADABLE, by_place, free_of_place, missing_share, place_of, unreadable_part

ONE_OF_THEM = 0.95
"""A run that picks as a baseline does in a larger share of its cases is said to be that baseline."""

NEAR_END = 0.05
"""At an accuracy closer to 0 or 1 than this, a few users can have most of what goes wrong."""


def of_result(one: Contender, cases: CaseSet[Any] | None, no_data: str, score: Estimate) -> list[Caveat]:
    """All caveats of a run's score; `no_data` says why there are no `cases`, empty for no caveat about that."""
    run = one.run
    found = [*_of_shortcuts(one), *of_run(run)]
    if cases is not None and cases.digest != run.signature.data:  # it has the cases of the run, but not every file
        found.append(caveat("other_data", FORBIDS, read=cases.digest, asked=run.signature.data))
    for value, control in one.controls.items():
        found += of_control(run, control, value)
    if cases is None and no_data:
        if "no_data" not in {caveat.key for caveat in run.unchecked}:
            found.append(caveat("no_data", NAMED, why=no_data))
        found += [caveat("counts_unchecked", WEAKENS)] if run.signature.counts == "any" else []
    if run.cases and not score.users:
        return ordered([*found, caveat("no_right_answer", FORBIDS)])
    return ordered([*found, *of_interval(score)])


def of_run(run: Run) -> Iterator[Caveat]:
    """Caveats that forbid conclusions from a run."""
    yield from void.reasons(run)
    if not run.cut_prompts and run.prompts.cut is None:
        yield caveat("prompts_not_checked", WEAKENS)
    share, unreadable = unreadable_part(run)
    if not unreadable["void"] and share > UNREADABLE_SHARE:
        yield caveat("few_unreadable", WEAKENS, **unreadable)
    # to decline is no fault of the setup
    refused = sum(result.answers.count("refusal") for result in run.results) / max(1, run.replies)
    if refused and not unreadable["void"] and refused + share >= MOST_UNREADABLE:
        yield caveat("refusals", NAMED, percent=100 * refused)
    if (place := place_of(run)) and place.decides and not by_place(run):
        yield caveat("place_cancels", NAMED, **place.shown, score=run.primary)
    if run.signature.demonstration:
        yield caveat("demonstration", FORBIDS)
    if run.joined:
        yield caveat("joined", NAMED, logs=run.joined)
    if run.partial:
        yield caveat("partial", FORBIDS, cells=run.unfinished)
    if not run.finished:
        yield caveat("unfinished", FORBIDS, state=state_of(run.status), advice=advice(run.status, run.harness))
    if run.left_out:
        samples = ", ".join(f"{count:,} {reason}" for reason, count in run.left_out.items())
        yield caveat("left_out", FORBIDS, samples=samples)
    if (version := run.signature.task_version) != run.benchmark.version:
        yield caveat("other_version", NAMED, version=version, installed=run.benchmark.version)
    if run.cache:
        yield caveat("cached", NAMED, cache=Path(run.cache).name)
    yield from (caveat for caveat in run.unchecked if caveat.severity != VOID)
    if bounds := sum(result.bounds for result in run.results):
        yield caveat("bounds", WEAKENS, count=bounds, replies=run.replies)
    if run.cases and all(case_id == case.user_id for case_id, case in run.cases.items()):
        yield caveat("errors_per_row", WEAKENS)
    # Some benchmarks accept any number of cases by default; then it says nothing of this run.
    if run.signature.counts == "any" and run.benchmark.options.counts != "any":
        yield caveat("counts_unchecked", WEAKENS)


def side_by_side(differing: Mapping[str, tuple[str, str]]) -> list[str]:
    """The conditions in which two runs differ, a line for each run: `temperature=0, seed=not set`; empty for none."""
    return [", ".join(f"{name}={values[of]}" for name, values in differing.items()) for of in (0, 1)]


def of_interval(estimate: Estimate) -> Iterator[Caveat]:
    """Caveats where an interval is less reliable than it looks."""
    yield from of_users(estimate)
    if estimate.users > 1 and math.isnan(estimate.low):
        yield caveat("equal_users", WEAKENS)
    elif min(estimate.value, 1 - estimate.value) < NEAR_END:
        yield caveat("near_end", WEAKENS)


def of_users(estimate: Estimate) -> Iterator[Caveat]:
    """Caveats for no users, or few."""
    if estimate.users == 0:
        yield caveat("no_case", FORBIDS)
    elif estimate.users == 1:
        yield caveat("one_user", FORBIDS)
    elif estimate.users < FEW_USERS:
        yield caveat("few_users", WEAKENS, users=estimate.users)


def _of_shortcuts(one: Contender) -> Iterator[Caveat]:
    # a case in which the run or the baseline has no pick is none of those that they share
    spec = one.run.benchmark.report
    for name, picks in spec.shortcuts.items() if spec.picked else ():
        shared = [value for value in shared_picks(name, one) or () if not math.isnan(value)]
        if shared and (share := math.fsum(shared) / len(one.run.cases)) > ONE_OF_THEM:
            yield caveat("shortcut", WEAKENS, picks=picks, percent=100 * share, name=name)


def of_control(run: Run, control: Run, value: str) -> Iterator[Caveat]:
    """Caveats that weaken a difference to this control, or make it void."""
    yield from control.unchecked
    same_part = control.logs == run.logs and control.unfinished == run.unfinished  # of one run that asked both
    if control.partial and not same_part:
        yield caveat("control_partial", FORBIDS, value=value, cells=control.unfinished)
    if control.program != run.program:
        mine, its = side_by_side(run.other_conditions(control))
        how = f"other conditions: {mine}; and {its}" if mine else "the same conditions"
        yield caveat("control_harness", WEAKENS, value=value, harness=run.harness, other=control.harness, how=how)
    if control.logs != run.logs and (cut := control.cut_prompts):  # else it is said of the run
        yield caveat("control_prompts_cut", VOID, value=value, cut=cut)
    if (missing := missing_share(control)) > MOST_MISSING:
        yield caveat("control_missing_replies", VOID, value=value, percent=100 * missing)
    own, own_unreadable = unreadable_part(run)
    share, unreadable = unreadable_part(control)
    if unreadable["void"] and not own_unreadable["void"]:  # else the run's own caveat says what to do
        yield caveat("control_unreadable", VOID, value=value, **unreadable)
    elif share:
        yield caveat("few_control_unreadable", WEAKENS, value=value, own=100 * own, **unreadable)
    spec = run.benchmark.report.control
    if (place := by_place(control)) and not by_place(run):
        of = {"known": spec.known, "free": free_of_place(control)}
        yield caveat("control_by_place", VOID, value=value, **place.shown, **of)
    common = len(run.cases.keys() & control.cases.keys())
    for name, subtracted in named_differences(run).items():
        if subtracted == value and common < len(run.cases):
            yield caveat("gain_in_part", NAMED, gain=name, common=common, cases=len(run.cases))
