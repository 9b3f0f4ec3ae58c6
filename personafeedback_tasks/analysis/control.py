"""The controls of a run, such as no_persona: how much of the score depends on what the model is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import nan

from ..common.statistics import Estimate
from ..runs.run import Run, RunError
from .place import cannot_move


def gains(run: Run, control: Run, ids: Iterable[str] | None = None) -> dict[str, float]:
    """Case id -> the measure of the control's gain minus that of the control, of the cases that both answered; nan
    where no answer could have moved any of them, see `place.cannot_move`.

    Args:
        ids: the cases of a group; None for all.
    """
    common = run.cases.keys() & control.cases.keys()
    if not common:
        raise RunError(
            f"{control.logs[0]}: found no case of {run.logs[0]} in it, expected a control on the same cases."
        )
    common &= common if ids is None else {*ids}
    measure = run.benchmark.measure_of_gain(run.method)
    if cannot_move([run, control], common):
        return dict.fromkeys(sorted(common), nan)
    return {name: run.cases[name].value(measure) - control.cases[name].value(measure) for name in sorted(common)}


def named_differences(run: Run) -> dict[str, str]:
    """Name of a difference of the run -> the value of the control's option that is subtracted: the gain, and those of the record."""
    spec = run.benchmark.report.control
    if spec is None:
        return {}
    names = {spec.value: spec.gain}
    names |= {one.less: one.name for one in spec.named if one.more == run.signature[spec.option]}
    return {name: value for value, name in names.items()}


def measure_of(run: Run) -> str:
    """The name of what such a run stops by."""
    control = run.benchmark.report.control
    accuracy = run.stopped is not None and run.stopped.accuracy
    return run.primary if accuracy or control is None else control.of_one_run[0].name


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


def refuse_other_control(run: Run, control: Run, value: str) -> None:
    """Raise RunError unless the control has this value of the control's option and differs from the run in it alone."""
    spec = run.benchmark.report.control
    assert spec is not None  # a benchmark without one has no value
    if control.signature.get(spec.option) != value:
        raise RunError(
            f"{control.logs[0]}: found {spec.option} {control.signature.get(spec.option)}, expected {value} for a control. "
            f"Run the same task with {spec.option}={value}."
        )
    if run.signature.get(spec.option) == value:
        raise RunError(
            f"{run.logs[0]}: found {spec.option} {value}, expected a run that is told more or other things than its control "
            f"{control.logs[0]}. Pass the run first, and its controls as options."
        )
    # where the harness is another one, the caveat `control_harness` names them
    differing = run.other_conditions(control) if run.program == control.program else {}
    for name, mine, its in (
        ("the model", run.name, control.name),
        *(
            (name, run.signature[name], control.signature.get(name))
            for name in ("benchmark", "method", "fingerprint", "task_version", *spec.alike.get(value, ()))
        ),
        *((name, *values) for name, values in differing.items()),
    ):
        if mine != its:
            raise RunError(
                f"{control.logs[0]}: found {name} {its}, expected {mine} as in the run that it controls. "
                f"Only {spec.option} may differ."
            )
    for case_id in sorted(run.cases.keys() & control.cases.keys()):
        if run.cases[case_id].digest != control.cases[case_id].digest:
            raise RunError(f"{control.logs[0]}: {case_id} has other texts than in the run. Run it on the same data.")


def with_controls(runs: Sequence[Run]) -> list[tuple[Run, dict[str, Run]]]:
    """Each run, with the controls that are among the others: value of the control's option -> run.

    A control that was only found in a folder is no run of its own.
    """
    controls = {id(run): _controls_among(run, runs) for run in runs}
    used = {id(control) for found in controls.values() for control in found.values() if not control.named}
    return [(run, controls[id(run)]) for run in runs if id(run) not in used]


def with_named(
    rows: Sequence[tuple[Run, Mapping[str, Run]]], named: Sequence[tuple[str, Run]]
) -> list[tuple[Run, dict[str, Run]]]:
    """Each run with its controls, and those that the user named: each goes to the runs that it controls.

    One that controls none goes to the first, whose report says why it does not belong there.
    """
    found = [(run, dict(beside)) for run, beside in rows]
    for value, control in named:
        for row in [row for row in found if _controls(control, row[0], value)] or found[:1]:
            row[1][value] = control
    return found


def _controls_among(run: Run, runs: Sequence[Run]) -> dict[str, Run]:
    """Of each value of the control's option, the control with the most cases in common; one of the same harness first."""
    spec = run.benchmark.report.control
    if spec is None:
        return {}
    told = run.signature[spec.option]
    weaker = spec.controls[: spec.controls.index(told)] if told in spec.controls else spec.controls
    found = {}
    for value in weaker:
        there = [other for other in runs if _controls(other, run, value)]
        if there:
            found[value] = max(
                there, key=lambda other: (other.program == run.program, len(run.cases.keys() & other.cases.keys()))
            )
    return found


def _controls(other: Run, run: Run, value: str) -> bool:
    try:
        refuse_other_control(run, other, value)
    except RunError:
        return False
    return bool(run.cases.keys() & other.cases.keys())
