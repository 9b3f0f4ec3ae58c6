"""The PersonaFeedback tasks of Inspect, under the same names as in lm-eval.

Dataset   PersonalAILab/PersonaFeedback at a pinned revision, or another folder (personafeedback/release.py, cases.py)
Prompt    the wordings v1 to v4 (personafeedback/wordings/*.md), laid out once in each order of the responses (prompts.py)
Solver    both calls of a case at once (inspect_harness/calls.py)
Scorer    a letter in the reply, its probability, or a reward (pairwise/methods.py) -> acc and others (pairwise/scoring.py)
Metrics   means over cases, by cell, with standard errors clustered by user (core/table.py)
"""

from typing import Any

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task


@task
def personafeedback(**options: Any) -> Task:
    """All cases.

    Args:
        options: of docs/options.md: setting, method, rag_filter, prompt, hide, data, counts and stop.
    """
    return build_task("personafeedback", "", options)


@task
def personafeedback_specific(**options: Any) -> Task:
    return build_task("personafeedback", "specific", options)


@task
def personafeedback_general(**options: Any) -> Task:
    return build_task("personafeedback", "general", options)


@task
def personafeedback_easy(**options: Any) -> Task:
    return build_task("personafeedback", "easy", options)


@task
def personafeedback_medium(**options: Any) -> Task:
    return build_task("personafeedback", "medium", options)


@task
def personafeedback_hard(**options: Any) -> Task:
    return build_task("personafeedback", "hard", options)


@task
def personafeedback_specific_easy(**options: Any) -> Task:
    return build_task("personafeedback", "specific_easy", options)


@task
def personafeedback_specific_medium(**options: Any) -> Task:
    return build_task("personafeedback", "specific_medium", options)


@task
def personafeedback_specific_hard(**options: Any) -> Task:
    return build_task("personafeedback", "specific_hard", options)


@task
def personafeedback_general_easy(**options: Any) -> Task:
    return build_task("personafeedback", "general_easy", options)


@task
def personafeedback_general_medium(**options: Any) -> Task:
    return build_task("personafeedback", "general_medium", options)


@task
def personafeedback_general_hard(**options: Any) -> Task:
    return build_task("personafeedback", "general_hard", options)
