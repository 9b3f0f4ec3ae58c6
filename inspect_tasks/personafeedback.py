"""PersonaFeedback (arXiv 2506.12915): which of two responses suits this user better? The tasks have lm-eval's names.

Dataset   PersonalAILab/PersonaFeedback at 785d5900d6721db765ba07d65c252f48909a66ce: 8,298 cases in six cells
          (personafeedback/release.py, cases.py)
Solver    both orders of the responses at once, temperature 0, at most 1,024 tokens (inspect_harness/calls.py)
Scorer    the letter in each reply (parsing/answers.py) -> acc: the share of the orders that pick the chosen response
          (pairwise/scoring.py)
Metrics   mean over all cases and over each cell, with standard errors clustered by user (core/table.py)
Prompt    wording v1; in the persona's language, so Chinese for most users (personafeedback/wordings/, prompts.py):

    Below are the persona of a user, a question that this user asked an assistant, and two responses to it, A and B.
    Put yourself in this user's place and choose the response that suits you better.

    Judge by two criteria together:
    1. Helpfulness: the response answers precisely the question that was asked. It is neither generic nor a strained
    collage of facts from the persona.
    2. Personalization: the response attends to several parts of the persona and works in those that fit.

    The order of the responses says nothing about their quality.

    <persona> ... </persona> <question> ... </question> <response_A> ... </response_A> <response_B> ... </response_B>

    As this user, which response suits you better? Reply with the letter alone: A or B.
    Answer:
"""

from typing import Any

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task


@task
def personafeedback(**options: Any) -> Task:
    """All cases.

    Args:
        options: of docs/options.md: setting, method, rag_filter, prompt, hide, data and counts.
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
