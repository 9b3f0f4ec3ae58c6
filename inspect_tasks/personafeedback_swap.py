"""The tasks of PersonaFeedback swap in Inspect, under the same names as in lm-eval."""

from typing import Any

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task


@task
def personafeedback_swap(**options: Any) -> Task:
    """A question that two users asked, and the response chosen for each; right is the one chosen for the user shown.

    Args:
        options: of docs/options.md: setting, method, rag_filter, pairs, prompt, hide, data and counts.
    """
    return build_task("personafeedback_swap", "", options)


@task
def personafeedback_swap_general_easy(**options: Any) -> Task:
    return build_task("personafeedback_swap", "general_easy", options)


@task
def personafeedback_swap_general_medium(**options: Any) -> Task:
    return build_task("personafeedback_swap", "general_medium", options)


@task
def personafeedback_swap_general_hard(**options: Any) -> Task:
    return build_task("personafeedback_swap", "general_hard", options)
