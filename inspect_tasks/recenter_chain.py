"""The stages one after the other in one run of Inspect: a model extracts, selects and replies. Each stage has a log of its own.

inspect eval personafeedback_tasks/recenter_chain --model openai/gpt-4o --log-dir logs
"""

import logging
from typing import Any, Literal

from inspect_ai import Task, TaskSource, task_source
from inspect_ai.log import EvalLog
from personafeedback_tasks.inspect_tasks.recenter_extract import recenter_extract
from personafeedback_tasks.inspect_tasks.recenter_respond import recenter_respond
from personafeedback_tasks.inspect_tasks.recenter_select import recenter_select

from personafeedback_tasks.common.errors import OptionError, PersonaFeedbackError
from personafeedback_tasks.core.signature import signatures

logger = logging.getLogger(__name__)


@task_source
def recenter_chain(
    data: str | None = None,
    counts: Literal["any"] = "any",
    attributes: str | None = None,
    selected: str | None = None,
    relevance_filter: str | None = None,
    **unknown: Any,
) -> TaskSource:
    """recenter_extract, recenter_select and recenter_respond, each on what the one before it wrote.

    Args:
        data: a folder with users.jsonl, conversations.jsonl and prompts.jsonl, or `sample`; RECENTER_DATA if not given.
        counts: nothing says how many rows there should be.
        attributes: go on from this run of recenter_extract: a log or a folder.
        selected: go on from this run of recenter_select.
        relevance_filter: a folder of `recenter train`: selected attributes that it finds irrelevant are left out.
        unknown: refused; Inspect would leave them out.
    """

    def select(log: str, **unknown: Any) -> Task:
        return recenter_select(data=data, counts=counts, attributes=log, **unknown)

    def respond(log: str, **unknown: Any) -> Task:
        return recenter_respond(data=data, counts=counts, selected=log, relevance_filter=relevance_filter, **unknown)

    if selected:
        return TaskSource.from_tasks([respond(selected, **unknown)])
    first = select(attributes, **unknown) if attributes else recenter_extract(data=data, counts=counts, **unknown)
    done: list[EvalLog] = []

    async def note(log: EvalLog) -> None:
        done.append(log)

    async def go_on() -> list[Task] | None:
        logs = [done.pop() for _ in range(len(done))]
        stages = [signatures(log.eval.metadata or {})[0]["benchmark"] for log in logs]
        if stages[:1] in ([], ["recenter_respond"]) or any(log.status != "success" for log in logs):
            return None
        try:
            if len(logs) > 1:  # Inspect gives a new task to every model of the run
                models = " and ".join(sorted(log.eval.model for log in logs))
                raise OptionError(f"it takes one model at a time, found {models}. Go on with each: -T attributes=LOG.")
            if stages == ["recenter_select"]:
                return [respond(logs[0].location)]
            return [select(logs[0].location)]
        except PersonaFeedbackError as error:  # the logs so far are whole
            logger.warning("recenter_chain ends after %s: %s", stages[0], error)
            return None

    return TaskSource.from_tasks([first], task_complete=note, next_tasks=go_on)
