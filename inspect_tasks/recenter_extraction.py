"""The Recenter extraction tasks of Inspect, under the same names as in lm-eval."""

from typing import Any, Literal

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task


@task
def recenter_extraction(
    method: Literal["generate"] = "generate",
    data: str | None = None,
    counts: Literal["any"] = "any",
    **unknown: Any,
) -> Task:
    """Recenter extraction: all cases.

    No labels of this stage are public with their texts: bring your own, or try `data=sample`, which is invented.

    Args:
        method: how the model is asked.
        data: a folder with any of extraction.jsonl, relevance.jsonl, response.jsonl, or `sample`; RECENTER_DATA if not given.
        counts: nothing says how many rows there should be.
        unknown: refused; Inspect would leave them out.
    """
    return build_task("recenter_extraction", "", locals())
