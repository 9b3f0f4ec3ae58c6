"""The Recenter relevance tasks of Inspect, under the same names as in lm-eval."""

from typing import Any, Literal

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task


@task
def recenter_relevance(
    method: Literal["generate", "select"] = "generate",
    control: Literal["none", "other_user"] = "none",
    data: str | None = None,
    counts: Literal["any"] = "any",
    **unknown: Any,
) -> Task:
    """Recenter relevance: all cases.

    People's majority labels are public in the authors' repository, see `personafeedback recenter import`; `data=sample` is invented.

    Args:
        method: how the model is asked.
        control: other_user shows attributes of other users instead, which nothing makes relevant.
        data: a folder with any of extraction.jsonl, relevance.jsonl, response.jsonl, or `sample`; RECENTER_DATA if not given.
        counts: nothing says how many rows there should be.
        unknown: refused; Inspect would leave them out.
    """
    return build_task("recenter_relevance", "", locals())


@task
def recenter_relevance_select(**options: Any) -> Task:
    """Recenter relevance: all cases; the numbers of the relevant attributes, from a profile in one prompt."""
    return build_task("recenter_relevance", "", options, "select")
