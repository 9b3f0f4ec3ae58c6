"""The PersonaFeedback tasks, under the same twelve names as in lm-eval.

Run one by name or, from a checkout, by path:

    inspect eval personafeedback_tasks/personafeedback_hard --model openai/gpt-4o
    inspect eval inspect_tasks/personafeedback.py@personafeedback_hard --model openai/gpt-4o

Every task takes the options of `personafeedback_tasks.personafeedback.options.Options`, for example `-T setting=no_persona`.
"""

from typing import Any

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task
from personafeedback_tasks.personafeedback.options import Options


@task
def personafeedback(
    category: str | None = None,
    difficulty: str | None = None,
    **options: Any,
) -> Task:
    """Which of two responses suits this user better? All six cells, or those of one category or difficulty.

    Args:
        category: `specific` or `general`; both if not given.
        difficulty: `easy`, `medium` or `hard`; all if not given.
        options: those of `personafeedback_tasks.personafeedback.options.Options`: setting, method, prompt, language, hide, k, rag_filter, data,
            counts.
    """
    return build_task("personafeedback", category, difficulty, options=Options.strict(**options))


@task
def personafeedback_specific(**options: Any) -> Task:
    """PersonaFeedback, the specific cases, all difficulties; arguments as in `personafeedback`."""
    return build_task("personafeedback_specific", "specific", None, options=Options.strict(**options))


@task
def personafeedback_general(**options: Any) -> Task:
    """PersonaFeedback, the general cases, all difficulties; arguments as in `personafeedback`."""
    return build_task("personafeedback_general", "general", None, options=Options.strict(**options))


@task
def personafeedback_easy(**options: Any) -> Task:
    """PersonaFeedback, the easy cases, both categories; arguments as in `personafeedback`."""
    return build_task("personafeedback_easy", None, "easy", options=Options.strict(**options))


@task
def personafeedback_medium(**options: Any) -> Task:
    """PersonaFeedback, the medium cases, both categories; arguments as in `personafeedback`."""
    return build_task("personafeedback_medium", None, "medium", options=Options.strict(**options))


@task
def personafeedback_hard(**options: Any) -> Task:
    """PersonaFeedback, the hard cases, both categories; arguments as in `personafeedback`."""
    return build_task("personafeedback_hard", None, "hard", options=Options.strict(**options))


@task
def personafeedback_specific_easy(**options: Any) -> Task:
    """PersonaFeedback, the cell specific / easy; arguments as in `personafeedback`."""
    return build_task("personafeedback_specific_easy", "specific", "easy", options=Options.strict(**options))


@task
def personafeedback_specific_medium(**options: Any) -> Task:
    """PersonaFeedback, the cell specific / medium; arguments as in `personafeedback`."""
    return build_task("personafeedback_specific_medium", "specific", "medium", options=Options.strict(**options))


@task
def personafeedback_specific_hard(**options: Any) -> Task:
    """PersonaFeedback, the cell specific / hard; arguments as in `personafeedback`."""
    return build_task("personafeedback_specific_hard", "specific", "hard", options=Options.strict(**options))


@task
def personafeedback_general_easy(**options: Any) -> Task:
    """PersonaFeedback, the cell general / easy; arguments as in `personafeedback`."""
    return build_task("personafeedback_general_easy", "general", "easy", options=Options.strict(**options))


@task
def personafeedback_general_medium(**options: Any) -> Task:
    """PersonaFeedback, the cell general / medium; arguments as in `personafeedback`."""
    return build_task("personafeedback_general_medium", "general", "medium", options=Options.strict(**options))


@task
def personafeedback_general_hard(**options: Any) -> Task:
    """PersonaFeedback, the cell general / hard; arguments as in `personafeedback`."""
    return build_task("personafeedback_general_hard", "general", "hard", options=Options.strict(**options))
