"""The tasks of Inspect in which a model judges a stage of personalization, under the same names as in lm-eval; and all in one run.

inspect eval personafeedback_tasks/recenter --model openai/gpt-4o
"""

from typing import Any

from inspect_ai import Task, TaskSource, task, task_source

from personafeedback_tasks.inspect_harness.tasks import build_task


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

    People's majority labels are public in the authors' repository, see `personafeedback recenter import`; `data=sample` is invented.

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
