"""The tasks of PersonaFeedback swap in Inspect, under the same names as in lm-eval."""

from typing import Any, Literal

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task, parameters_of


@task
def personafeedback_swap(
    difficulty: Literal["easy", "medium", "hard"] | None = None,
    setting: Literal["persona", "no_persona", "other_persona", "rag"] | list[str] = "persona",
    method: Literal["generate", "cot", "logprobs", "reward"] = "generate",
    k: int = 5,
    rag_filter: bool = False,
    pairs: Literal["matched", "all"] = "matched",
    prompt: Literal["v1", "v2", "v3", "v4"] = "v1",
    language: Literal["auto", "en", "zh"] = "auto",
    hide: str | list[str] | None = None,
    data: str | None = None,
    counts: Literal["checked", "any"] = "checked",
    **unknown: Any,
) -> Task:
    """PersonaFeedback swap: a question that two users asked, and the response chosen for each; right is that of the user whose persona is shown.

    Args:
        difficulty: one of these alone.
        setting: what the model is told about the user.
        method: how the model's choice is read.
        k: how many pieces of content `rag` shows.
        rag_filter: whether the model first drops irrelevant pieces of `rag` (Inspect).
        pairs: the pairs of users of a question: each row in one pair at most, or all.
        prompt: which wording of the question.
        language: the language of the prompt: the persona's, or one for all.
        hide: persona fields that are left out, such as Name,Preference.Travel.
        data: a folder, `sample`, or a Hub dataset id; PERSONAFEEDBACK_DATA if not given.
        counts: `any` accepts what is present instead of the number of cases that the data must have.
        unknown: refused; Inspect would leave them out.
    """
    return build_task("personafeedback_swap", "", locals())


@task
@parameters_of(personafeedback_swap, "difficulty")
def personafeedback_swap_general_easy(**unknown: Any) -> Task:
    return build_task("personafeedback_swap", "general_easy", locals())


@task
@parameters_of(personafeedback_swap, "difficulty")
def personafeedback_swap_general_medium(**unknown: Any) -> Task:
    return build_task("personafeedback_swap", "general_medium", locals())


@task
@parameters_of(personafeedback_swap, "difficulty")
def personafeedback_swap_general_hard(**unknown: Any) -> Task:
    return build_task("personafeedback_swap", "general_hard", locals())
