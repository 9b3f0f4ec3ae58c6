"""The Recenter extract task of Inspect, under the same name as in lm-eval.

Run it by name or, from a checkout, by path:

    inspect eval personafeedback_tasks/recenter_extract --model openai/gpt-4o
    inspect eval inspect_tasks/recenter_extract.py@recenter_extract --model openai/gpt-4o
"""

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
