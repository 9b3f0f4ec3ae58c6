"""The no_persona control of a run: how much of the score needs the person at all."""

from __future__ import annotations

from collections.abc import Iterator

from ..personafeedback.case_values import case_values
from ..replies.answers import LETTERS
from ..runs.run import Run, RunError


def control_cautions(control: Run) -> Iterator[str]:
    """What weakens a gain over this control. A reply that cannot be read counts as wrong, and so makes a gain."""
    if control.partial:
        yield f"PARTIAL control: {control.unfinished}."
    if share := unreadable_share(control):
        yield f"{100 * share:.1f} % of the control's replies are unreadable and count as wrong, which raises the persona gain."


def unreadable_share(run: Run) -> float:
    """Share of a run's replies that are neither a letter nor a refusal; 0 without replies."""
    answers = [answer for row in (run.rows or {}).values() for epoch in row.answers for answer in epoch]
    return sum(answer not in (*LETTERS, "refusal") for answer in answers) / len(answers) if answers else 0.0


def gains(run: Run, control: Run) -> dict[str, float]:
    """Case id -> acc minus acc of the control, of the cases that both answered."""
    mine, other = run.rows or {}, control.rows or {}
    common = mine.keys() & other.keys()
    if not common:
        raise RunError(
            f"{control.logs[0]}: found no case of {run.logs[0]} in it, expected a control on the same cases."
        )
    return {case_id: case_values(mine[case_id]).acc - case_values(other[case_id]).acc for case_id in common}


def refuse_other_control(run: Run, control: Run) -> None:
    """Raise RunError unless the control differs from the run in its setting alone."""
    if control.signature["setting"] != "no_persona":
        raise RunError(
            f"{control.logs[0]}: found setting {control.signature['setting']}, expected no_persona for a control. "
            "Run the same task with setting=no_persona."
        )
    for name, mine, its in (
        ("the model", run.model, control.model),
        *(
            (name, run.signature[name], control.signature[name])
            for name in ("method", "prompt", "language", "task_version")
        ),
        ("the conditions", run.conditions, control.conditions),
    ):
        if mine != its:
            raise RunError(
                f"{control.logs[0]}: found {name} {its}, expected {mine} as in the run that it is to control. "
                "Only the setting may differ."
            )
    for case_id in (run.rows or {}).keys() & (control.rows or {}).keys():
        mine, its = (run.rows or {})[case_id].digest, (control.rows or {})[case_id].digest
        if mine != its:
            raise RunError(
                f"{control.logs[0]}: {case_id} was asked with other texts than in the run. Run it on the same data."
            )
