"""The control of a run, such as no_persona: how much of the score depends on what the model is told."""

from __future__ import annotations

from collections.abc import Sequence

from ..runs.run import Run, RunError


def gains(run: Run, control: Run) -> dict[str, float]:
    """Case id -> the primary measure minus that of the control, of the cases that both answered."""
    common = run.cases.keys() & control.cases.keys()
    if not common:
        raise RunError(
            f"{control.logs[0]}: found no case of {run.logs[0]} in it, expected a control on the same cases."
        )
    primary = run.benchmark.report.primary
    return {case_id: run.cases[case_id].value(primary) - control.cases[case_id].value(primary) for case_id in common}


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
    for name, mine, its in (
        ("the model", run.model, control.model),
        *(
            (name, run.signature[name], control.signature.get(name))
            for name in ("benchmark", "method", "fingerprint", "task_version", *spec.alike.get(value, ()))
        ),
        ("the conditions", run.conditions_line, control.conditions_line),
    ):
        if mine != its:
            raise RunError(
                f"{control.logs[0]}: found {name} {its}, expected {mine} as in the run that it controls. "
                f"Only {spec.option} may differ."
            )
    for case_id in run.cases.keys() & control.cases.keys():
        if run.cases[case_id].digest != control.cases[case_id].digest:
            raise RunError(f"{control.logs[0]}: {case_id} has other texts than in the run. Run it on the same data.")


def with_controls(runs: Sequence[Run]) -> list[tuple[Run, Run | None]]:
    """Each run, with the control that is among the others. A control that was only found in a folder is no run of its own."""
    controls = {id(run): control for run in runs if (control := _control_among(run, runs)) is not None}
    used = {id(control) for control in controls.values() if not control.named}
    return [(run, controls.get(id(run))) for run in runs if id(run) not in used]


def _control_among(run: Run, runs: Sequence[Run]) -> Run | None:
    """The control with the most cases in common."""
    spec = run.benchmark.report.control
    if spec is None:
        return None
    found = [(len(run.cases.keys() & other.cases.keys()), other) for other in runs if _controls(other, run, spec.value)]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _controls(other: Run, run: Run, value: str) -> bool:
    try:
        refuse_other_control(run, other, value)
    except RunError:
        return False
    return bool(run.cases.keys() & other.cases.keys())
