"""The PersonaFeedback tasks of Inspect, under the same names as in lm-eval."""

from typing import Any, Literal

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task, parameters_of


@task
def personafeedback(
    category: Literal["specific", "general"] | None = None,
    difficulty: Literal["easy", "medium", "hard"] | None = None,
    setting: Literal["persona", "no_persona", "other_persona", "similar_persona", "padding", "rag"]
    | list[str] = "persona",
    method: Literal["generate", "cot", "logprobs", "reward"] = "generate",
    k: int = 5,
    rag_filter: bool = False,
    prompt: Literal["v1", "v2", "v3", "v4"] = "v1",
    language: Literal["auto", "en", "zh"] = "auto",
    hide: str | list[str] | None = None,
    data: str | None = None,
    counts: Literal["checked", "any"] = "checked",
    stop: str | None = None,
    **unknown: Any,
) -> Task:
    """PersonaFeedback: all cases, or those of one part.

    Args:
        category: one of these alone.
        difficulty: one of these alone.
        setting: what the model is told about the user.
        method: how the model's choice is read.
        k: how many pieces of content `rag` shows.
        rag_filter: whether the model first drops irrelevant pieces of `rag` (Inspect).
        prompt: which wording of the question.
        language: the language of the prompt: the persona's, or one for all.
        hide: persona fields that are left out, such as Name,Preference.Travel.
        data: a folder, `sample`, or a Hub dataset id; PERSONAFEEDBACK_DATA if not given.
        counts: `any` accepts what is present instead of the number of cases that the data must have.
        stop: ends the run as soon as it is decided: 5 (points) or acc:5 (Inspect).
        unknown: refused; Inspect would leave them out.
    """
    return build_task("personafeedback", "", locals())


@task
@parameters_of(personafeedback, "category", "difficulty")
def personafeedback_specific(**unknown: Any) -> Task:
    return build_task("personafeedback", "specific", locals())


@task
@parameters_of(personafeedback, "category", "difficulty")
def personafeedback_general(**unknown: Any) -> Task:
    return build_task("personafeedback", "general", locals())


@task
@parameters_of(personafeedback, "category", "difficulty")
def personafeedback_easy(**unknown: Any) -> Task:
    return build_task("personafeedback", "easy", locals())


@task
@parameters_of(personafeedback, "category", "difficulty")
def personafeedback_medium(**unknown: Any) -> Task:
    return build_task("personafeedback", "medium", locals())


@task
@parameters_of(personafeedback, "category", "difficulty")
def personafeedback_hard(**unknown: Any) -> Task:
    return build_task("personafeedback", "hard", locals())


@task
@parameters_of(personafeedback, "category", "difficulty")
def personafeedback_specific_easy(**unknown: Any) -> Task:
    return build_task("personafeedback", "specific_easy", locals())


@task
@parameters_of(personafeedback, "category", "difficulty")
def personafeedback_specific_medium(**unknown: Any) -> Task:
    return build_task("personafeedback", "specific_medium", locals())


@task
@parameters_of(personafeedback, "category", "difficulty")
def personafeedback_specific_hard(**unknown: Any) -> Task:
    return build_task("personafeedback", "specific_hard", locals())


@task
@parameters_of(personafeedback, "category", "difficulty")
def personafeedback_general_easy(**unknown: Any) -> Task:
    return build_task("personafeedback", "general_easy", locals())


@task
@parameters_of(personafeedback, "category", "difficulty")
def personafeedback_general_medium(**unknown: Any) -> Task:
    return build_task("personafeedback", "general_medium", locals())


@task
@parameters_of(personafeedback, "category", "difficulty")
def personafeedback_general_hard(**unknown: Any) -> Task:
    return build_task("personafeedback", "general_hard", locals())
