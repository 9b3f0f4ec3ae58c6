"""The Recenter respond task of Inspect, under the same name as in lm-eval."""

from typing import Any, Literal

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task


@task
def recenter_respond(
    method: Literal["respond"] = "respond",
    data: str | None = None,
    counts: Literal["any"] = "any",
    selected: str | None = None,
    relevance_filter: str | None = None,
    **unknown: Any,
) -> Task:
    """Recenter respond: all cases.

    Args:
        method: what the model does.
        data: a folder with relevance.jsonl, or `sample`; RECENTER_DATA if not given.
        counts: nothing says how many rows there should be.
        selected: a run of recenter_select, whose attributes are used: a log or a folder; those that people found relevant if not given.
        relevance_filter: a folder of `recenter train`: attributes of the run that it finds irrelevant are left out.
        unknown: refused; Inspect would leave them out.
    """
    return build_task("recenter_respond", "", locals())
