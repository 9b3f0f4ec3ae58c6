"""The Recenter extract task of Inspect, under the same name as in lm-eval."""

from typing import Any, Literal

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task


@task
def recenter_extract(
    method: Literal["extract"] = "extract",
    data: str | None = None,
    counts: Literal["any"] = "any",
    **unknown: Any,
) -> Task:
    """Recenter extract: all cases.

    Args:
        method: what the model does.
        data: a folder with users.jsonl and conversations.jsonl, or `sample`; RECENTER_DATA if not given.
        counts: nothing says how many rows there should be.
        unknown: refused; Inspect would leave them out.
    """
    return build_task("recenter_extract", "", locals())
