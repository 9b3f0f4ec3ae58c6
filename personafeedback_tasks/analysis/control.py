"""The controls of a run, such as no_persona: how much of the score depends on what the model is told."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.result import Result
from ..logs.errors import RunError
from ..logs.read import only
from ..logs.run import Run
from ..stats.estimates import Estimate, share
from .void import cannot_move, is_void


def gains(run: Run, control: Run, ids: Iterable[str]) -> dict[str, float]:
    """Common case -> measure of gain of the run minus the control's; nan if either is void or no answer can move."""
    common = run.cases.keys() & control.cases.keys() & {*ids}
    measure = run.benchmark.primary(run.method)
    if is_void(run, control) or cannot_move([run, control], common):
        return dict.fromkeys(sorted(common), math.nan)
    return {name: run.cases[name].value(measure) - control.cases[name].value(measure) for name in sorted(common)}


def named_differences(run: Run) -> dict[str, str]:
    """Name of a difference of the run -> the value of the control's option that is subtracted."""
    spec = run.benchmark.report.control
    names = {spec.value: spec.gain} if spec else {}
    names |= {one.less: one.name for one in spec.named if one.more == run.setting}
    return {name: value for value, name in names.items()}


def listed_controls(run: Run, controls: Mapping[str, Run]) -> dict[str, str]:
    """Name of a difference -> setting of its control, asked or not, unless it is a further one; the gain comes last."""
    spec = run.benchmark.report.control
    silent = {run.setting, *(one.less for one in spec.named if one.further and one.less not in controls)}
    names = {name: value for name, value in named_differences(run).items() if value not in silent}
    return dict(sorted(names.items(), key=lambda item: item[1] == spec.value))


def _unfit(run: Run, control: Run) -> str:
    # why it is no control of the run; empty where it differs from the run in the control's option alone
    spec = run.benchmark.report.control
    values: dict[str, tuple[Any, Any]] = {"the model": (run.identity, control.identity)}
    for name in ("benchmark", "method", "fingerprint", "task_version", *spec.alike.get(control.setting, ())):
        values[name] = run.signature.defining[name], control.signature.defining.get(name)
    if run.program == control.program:  # else the caveat `control_harness` names them
        values |= run.other_conditions(control)
    for name, (mine, its) in values.items():
        if mine != its:
            return (
                f"{control.logs[0]}: found {name} {its}, expected {mine} as in the run that it controls. "
                f"Only {spec.option} may differ."
            )
    common = sorted(run.cases.keys() & control.cases.keys())
    if not common and (run.cases or control.cases):  # of a run without replies, all settings have none
        return f"{control.logs[0]}: found no case of {run.logs[0]} in it, expected a control on the same cases."
    for case_id in common:
        if run.cases[case_id].digest != control.cases[case_id].digest:
            return f"{control.logs[0]}: {case_id} has other texts than in the run. Run it on the same data."
    return ""


def with_controls(runs: Sequence[Run]) -> list[tuple[Run, dict[str, Run]]]:
    """Each run, with the runs among the others that it is compared to: value of the control's option -> run.

    A control, such as no_persona, gets no row of its own. One that is told other things, such as rag, does.
    """
    beside = {id(run): _controls_among(run, runs) for run in runs}
    used = set()
    for run in runs:
        controls = run.benchmark.report.control.controls
        used |= {id(other) for value, other in beside[id(run)].items() if value in controls}
    return [(run, beside[id(run)]) for run in runs if id(run) not in used]


def one_of(rows: Sequence[tuple[Run, dict[str, Run]]], place: str | Path) -> tuple[Run, dict[str, Run]]:
    """The one run that was found in a place, with its controls. Raises RunError for several."""
    settings = {run.setting for run, _ in rows}
    if len(rows) == len(settings) and (unfit := unfit_controls(rows)):  # one run that was to have controls
        raise RunError(unfit[0])
    only(place, [run for run, _ in rows])
    return rows[0]


def unfit_controls(rows: Sequence[tuple[Run, Mapping[str, Run]]]) -> list[str]:
    """Why runs of the same model that were told less are no controls, a sentence each."""
    reasons = []
    for run, controls in rows:
        for other, _ in rows:
            if other.identity == run.identity and other.setting in _weaker(run) and other.setting not in controls:
                reasons.append(_unfit(run, other))
    return [*filter(None, reasons)]


def _weaker(run: Run) -> Sequence[str]:
    values, told = run.benchmark.report.control.values, run.setting
    return values[values.index(told) + 1 :] if told in values else values


def _controls_among(run: Run, runs: Sequence[Run]) -> dict[str, Run]:
    # the one with the most common cases, but the same harness first
    found = {}
    for value in _weaker(run):
        there = [other for other in runs if other.setting == value and not _unfit(run, other)]
        if there:
            found[value] = max(
                there, key=lambda other: (other.program == run.program, len(run.cases.keys() & other.cases.keys()))
            )
    return found


def turned(run: Run, control: Run, ids: Iterable[str], before: float = 1) -> Estimate | None:
    """Of the answers to some cases that are right in the control, the share that is wrong in the run; None without any.

    Both answer the same case in the same epoch, clustered by user. Each order has an answer. Log-odds have one for all
    orders: a model that follows place would lose none in either. A tie is half turned, an unreadable reply is not.

    Args:
        before: 0 takes the answers that are wrong in the control, and the share of these that is right in the run.
    """
    shares, users, answers = [], [], 0
    for case_id in sorted(run.cases.keys() & control.cases.keys() & {*ids}):
        for told, untold in zip(run.by_case[case_id], control.by_case[case_id], strict=False):
            for after, without in zip(_right(run, told), _right(control, untold), strict=True):
                answers += 1
                if without == before:
                    shares.append(0.0 if math.isnan(after) else abs(before - after))
                    users.append(told.user_id)
    return share(shares, users) if answers else None


def _right(run: Run, result: Result) -> list[float]:
    # 1, 0, or 0.5 for a tie; nan for a reply that cannot be read
    if run.method.primary:
        return [result.values.get(run.primary, math.nan)]
    labels, answers = run.benchmark.labels, zip(result.targets, result.answers, strict=True)
    return [float(answer == target) if answer in labels else math.nan for target, answer in answers]
