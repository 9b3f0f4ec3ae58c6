"""The control of a run, such as no_persona: how much of the score depends on what the model is told."""

from __future__ import annotations

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


def refuse_other_control(run: Run, control: Run) -> None:
    """Raise RunError unless the control differs from the run in the control's option alone."""
    spec = run.benchmark.report.control
    if spec is None:
        raise RunError(f"{control.logs[0]}: {run.benchmark.title} has no control. Report the runs separately.")
    if control.signature.get(spec.option) != spec.value:
        raise RunError(
            f"{control.logs[0]}: found {spec.option} {control.signature.get(spec.option)}, expected {spec.value} for a control. "
            f"Run the same task with {spec.option}={spec.value}."
        )
    for name, mine, its in (
        ("the model", run.model, control.model),
        *(
            (name, run.signature[name], control.signature.get(name))
            for name in ("benchmark", "method", "fingerprint", "task_version")
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
