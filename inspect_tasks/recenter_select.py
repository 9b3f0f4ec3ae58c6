"""The Recenter select task of Inspect, under the same name as in lm-eval."""

from typing import Any, Literal

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task


@task
def recenter_select(
    method: Literal["select"] = "select",
    data: str | None = None,
    counts: Literal["any"] = "any",
    attributes: str | None = None,
    **unknown: Any,
) -> Task:
    """Recenter select: all cases.

    Args:
        method: what the model does.
        data: a folder with prompts.jsonl or relevance.jsonl, or `sample`; RECENTER_DATA if not given.
        counts: nothing says how many rows there should be.
        attributes: a run of recenter_extract, whose attributes are used: a log or a folder; those of relevance.jsonl if not given.
        unknown: refused; Inspect would leave them out.
    """
    return build_task("recenter_select", "", locals())
