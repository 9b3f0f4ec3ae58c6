"""Inspect tasks in which a model judges or performs a stage of personalization, named as in lm-eval, and all in one.

inspect eval personafeedback_tasks/recenter --model openai/gpt-4o
inspect eval personafeedback_tasks/recenter_chain --model openai/gpt-4o --log-dir logs
"""

import logging
from typing import Any

from inspect_ai import Task, TaskSource, task, task_source
from inspect_ai.log import EvalLog

from personafeedback_tasks.common.errors import OptionError, PersonaFeedbackError, require
from personafeedback_tasks.core.signature import signatures
from personafeedback_tasks.inspect_harness.errors import errors_in_one_line
from personafeedback_tasks.inspect_harness.tasks import build_task
from personafeedback_tasks.recenter.filter import folder as filter_folder
from personafeedback_tasks.recenter.filter.model import EXTRA
from personafeedback_tasks.recenter.respond import RESPOND
from personafeedback_tasks.recenter.select import SELECT, prompts_in

logger = logging.getLogger(__name__)


@task
def recenter_extraction(**options: Any) -> Task:
    """All cases.

    No labels of this stage are public with their texts: bring your own, or try `data=sample`, which is invented.

    Args:
        options: of docs/options.md: method, data and counts.
    """
    return build_task("recenter_extraction", "", options)


@task
def recenter_relevance(**options: Any) -> Task:
    """All cases.

    People's majority labels are public, see `personafeedback recenter import`; `data=sample` is invented.

    Args:
        options: of docs/options.md: method, data and counts.
    """
    return build_task("recenter_relevance", "", options)


@task
def recenter_relevance_select(**options: Any) -> Task:
    """All cases; the numbers of the relevant attributes, from a profile in one prompt."""
    return build_task("recenter_relevance", "", options, "select")


@task
def recenter_response(**options: Any) -> Task:
    """All cases.

    No ratings of this stage are public with their texts: bring your own, or try `data=sample`, which is invented.

    Args:
        options: of docs/options.md: method, data and counts.
    """
    return build_task("recenter_response", "", options)


@task_source
def recenter(**options: Any) -> TaskSource:
    """recenter_extraction, recenter_relevance and recenter_response.

    Args:
        options: data and counts.
    """
    return TaskSource.from_tasks(
        [stage(**options) for stage in (recenter_extraction, recenter_relevance, recenter_response)]
    )


@task
def recenter_extract(**options: Any) -> Task:
    """All cases.

    Args:
        options: of docs/options.md: method, data and counts.
    """
    return build_task("recenter_extract", "", options)


@task
def recenter_select(**options: Any) -> Task:
    """All cases.

    Args:
        options: of docs/options.md: method, data, counts and attributes.
    """
    return build_task("recenter_select", "", options)


@task
def recenter_respond(**options: Any) -> Task:
    """All cases.

    Args:
        options: of docs/options.md: method, data, counts, selected and relevance_filter.
    """
    return build_task("recenter_respond", "", options)


@task_source
@errors_in_one_line()
def recenter_chain(
    attributes: str | None = None,
    selected: str | None = None,
    relevance_filter: str | None = None,
    **options: Any,
) -> TaskSource:
    """recenter_extract, recenter_select and recenter_respond, each on what the one before wrote and with its own log.

    Args:
        attributes: go on from this run of recenter_extract: a log or a folder.
        selected: go on from this run of recenter_select.
        relevance_filter: a folder of `recenter train`: selected attributes that it finds irrelevant are left out.
        options: data and counts. The data are a folder with conversations.jsonl and prompts.jsonl, or `sample`.
    """

    # what a later step would refuse is refused before the first one is paid for
    if attributes and selected:
        raise OptionError(
            f"attributes={attributes!r} has no effect beside selected={selected!r}, whose attributes are used. Pass "
            "one of them."
        )
    (to_select,) = SELECT.options_of({**options, "attributes": attributes})
    RESPOND.options_of(
        {**options, "selected": selected or "run of recenter_select", "relevance_filter": relevance_filter}
    )
    if relevance_filter:
        require("sentence_transformers", extra=EXTRA)
        filter_folder.read(relevance_filter)
    if not selected:
        prompts_in(to_select.data)

    def select(log: str) -> Task:
        return recenter_select(attributes=log, **options)

    def respond(log: str) -> Task:
        return recenter_respond(selected=log, relevance_filter=relevance_filter, **options)

    if selected:
        return TaskSource.from_tasks([respond(selected)])
    first = select(attributes) if attributes else recenter_extract(**options)
    done: list[EvalLog] = []

    async def note(log: EvalLog) -> None:
        done.append(log)

    async def go_on() -> list[Task] | None:
        logs = [done.pop() for _ in range(len(done))]
        stages = [signatures(log.eval.metadata or {})[0].benchmark for log in logs]
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
