"""The PersonaFeedback, writing tasks of Inspect, under the same names as in lm-eval."""

from typing import Any, Literal

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task, parameters_of


@task
def personafeedback_write(
    category: Literal["specific", "general"] | None = None,
    difficulty: Literal["easy", "medium", "hard"] | None = None,
    setting: Literal["persona", "no_persona", "other_persona", "similar_persona", "padding", "rag"] = "persona",
    method: Literal["write"] = "write",
    k: int = 5,
    rag_filter: bool = False,
    prompt: Literal["v1"] = "v1",
    language: Literal["auto", "en", "zh"] = "auto",
    hide: str | list[str] | None = None,
    data: str | None = None,
    counts: Literal["checked", "any"] = "checked",
    **unknown: Any,
) -> Task:
    """PersonaFeedback, writing: all cases, or those of one part.

    Args:
        category: one of these alone.
        difficulty: one of these alone.
        setting: what the model is told about the user.
        method: what the model does.
        k: how many pieces of content `rag` shows.
        rag_filter: whether the model first drops irrelevant pieces of `rag` (Inspect).
        prompt: which wording of the request.
        language: the language of the prompt: the persona's, or one for all.
        hide: persona fields that are left out, such as Name,Preference.Travel.
        data: a folder, `sample`, or a Hub dataset id; PERSONAFEEDBACK_DATA if not given.
        counts: `any` accepts what is present instead of the number of cases that the data must have.
        unknown: refused; Inspect would leave them out.
    """
    return build_task("personafeedback_write", "", locals())


@task
@parameters_of(personafeedback_write, "category", "difficulty")
def personafeedback_write_specific(**unknown: Any) -> Task:
    return build_task("personafeedback_write", "specific", locals())


@task
@parameters_of(personafeedback_write, "category", "difficulty")
def personafeedback_write_general(**unknown: Any) -> Task:
    return build_task("personafeedback_write", "general", locals())


@task
@parameters_of(personafeedback_write, "category", "difficulty")
def personafeedback_write_easy(**unknown: Any) -> Task:
    return build_task("personafeedback_write", "easy", locals())


@task
@parameters_of(personafeedback_write, "category", "difficulty")
def personafeedback_write_medium(**unknown: Any) -> Task:
    return build_task("personafeedback_write", "medium", locals())


@task
@parameters_of(personafeedback_write, "category", "difficulty")
def personafeedback_write_hard(**unknown: Any) -> Task:
    return build_task("personafeedback_write", "hard", locals())


@task
@parameters_of(personafeedback_write, "category", "difficulty")
def personafeedback_write_specific_easy(**unknown: Any) -> Task:
    return build_task("personafeedback_write", "specific_easy", locals())


@task
@parameters_of(personafeedback_write, "category", "difficulty")
def personafeedback_write_specific_medium(**unknown: Any) -> Task:
    return build_task("personafeedback_write", "specific_medium", locals())


@task
@parameters_of(personafeedback_write, "category", "difficulty")
def personafeedback_write_specific_hard(**unknown: Any) -> Task:
    return build_task("personafeedback_write", "specific_hard", locals())


@task
@parameters_of(personafeedback_write, "category", "difficulty")
def personafeedback_write_general_easy(**unknown: Any) -> Task:
    return build_task("personafeedback_write", "general_easy", locals())


@task
@parameters_of(personafeedback_write, "category", "difficulty")
def personafeedback_write_general_medium(**unknown: Any) -> Task:
    return build_task("personafeedback_write", "general_medium", locals())


@task
@parameters_of(personafeedback_write, "category", "difficulty")
def personafeedback_write_general_hard(**unknown: Any) -> Task:
    return build_task("personafeedback_write", "general_hard", locals())
