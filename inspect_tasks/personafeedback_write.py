"""The writing tasks of PersonaFeedback in Inspect, under the same names as in lm-eval."""

from typing import Any

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task


@task
def personafeedback_write(**options: Any) -> Task:
    """A reply to each question of a user.

    Args:
        options: of docs/options.md: setting, method, rag_filter, prompt, hide, data and counts.
    """
    return build_task("personafeedback_write", "", options)


@task
def personafeedback_write_specific(**options: Any) -> Task:
    return build_task("personafeedback_write", "specific", options)


@task
def personafeedback_write_general(**options: Any) -> Task:
    return build_task("personafeedback_write", "general", options)


@task
def personafeedback_write_easy(**options: Any) -> Task:
    return build_task("personafeedback_write", "easy", options)


@task
def personafeedback_write_medium(**options: Any) -> Task:
    return build_task("personafeedback_write", "medium", options)


@task
def personafeedback_write_hard(**options: Any) -> Task:
    return build_task("personafeedback_write", "hard", options)


@task
def personafeedback_write_specific_easy(**options: Any) -> Task:
    return build_task("personafeedback_write", "specific_easy", options)


@task
def personafeedback_write_specific_medium(**options: Any) -> Task:
    return build_task("personafeedback_write", "specific_medium", options)


@task
def personafeedback_write_specific_hard(**options: Any) -> Task:
    return build_task("personafeedback_write", "specific_hard", options)


@task
def personafeedback_write_general_easy(**options: Any) -> Task:
    return build_task("personafeedback_write", "general_easy", options)


@task
def personafeedback_write_general_medium(**options: Any) -> Task:
    return build_task("personafeedback_write", "general_medium", options)


@task
def personafeedback_write_general_hard(**options: Any) -> Task:
    return build_task("personafeedback_write", "general_hard", options)
