"""The stages one after the other in one run of Inspect: a model extracts, selects and replies. Each stage has a log of its own.

inspect eval personafeedback_tasks/recenter_chain --model openai/gpt-4o --log-dir logs
"""

from typing import Literal

from inspect_ai import Task, TaskSource, task_source
from inspect_ai.log import EvalLog
from personafeedback_tasks.inspect_tasks.recenter_extract import recenter_extract
from personafeedback_tasks.inspect_tasks.recenter_respond import recenter_respond
from personafeedback_tasks.inspect_tasks.recenter_select import recenter_select

from personafeedback_tasks.common.errors import OptionError
from personafeedback_tasks.engine.signature import signatures


@task_source
def recenter_chain(
    data: str | None = None,
    counts: Literal["any"] = "any",
    attributes: str | None = None,
    selected: str | None = None,
) -> TaskSource:
    """recenter_extract, recenter_select and recenter_respond, each on what the one before it wrote.

    Args:
        data: a folder with users.jsonl, conversations.jsonl and prompts.jsonl, or `sample`; RECENTER_DATA if not given.
        counts: nothing says how many rows there should be.
        attributes: go on from this run of recenter_extract: a log or a folder.
        selected: go on from this run of recenter_select.
    """
    if selected:
        return TaskSource.from_tasks([recenter_respond(data=data, counts=counts, selected=selected)])
    first = (
        recenter_select(data=data, counts=counts, attributes=attributes)
        if attributes
        else recenter_extract(data=data, counts=counts)
    )
    models: set[str] = set()

    async def go_on(log: EvalLog) -> list[Task] | None:
        models.add(log.eval.model)
        if len(models) > 1:  # Inspect gives each new task to every model of the run
            raise OptionError(
                f"recenter_chain takes one model at a time, found {' and '.join(sorted(models))}. Their attributes are in the logs: go on "
                "for each model with -T attributes=LOG."
            )
        done = signatures(log.eval.metadata or {})[0]["benchmark"]
        if log.status != "success" or done == "recenter_respond":
            return None
        if done == "recenter_select":
            return [recenter_respond(data=data, counts=counts, selected=log.location)]
        return [recenter_select(data=data, counts=counts, attributes=log.location)]

    return TaskSource.from_tasks([first], task_complete=go_on)
