"""The PersonaFeedback tasks, under the same twelve names as in lm-eval.

Run one by name or, from a checkout, by path:

    inspect eval personafeedback_tasks/personafeedback_hard --model openai/gpt-4o
    inspect eval inspect_tasks/personafeedback.py@personafeedback_hard --model openai/gpt-4o

Every task takes the options of `personafeedback_tasks.options.Options`, for example `-T setting=no_persona`.
"""

from inspect_ai import Task, task

from personafeedback_tasks.inspect_task import build_task
from personafeedback_tasks.options import Options


@task
def personafeedback(
    category: str | None = None,
    difficulty: str | None = None,
    setting: str = "persona",
    data: str | None = None,
    counts: str = "table2",
) -> Task:
    """Which of two responses suits this user better? All six cells, or those of one category or difficulty.

    Args:
        category: `specific` or `general`; both if not given.
        difficulty: `easy`, `medium` or `hard`; all if not given.
        setting: what the model is told about the user: `persona` (the whole profile) or `no_persona` (the control).
        data: a folder in the release's layout, `sample`, or a Hub dataset id with an optional `@revision`.
            Default: PERSONAFEEDBACK_DATA, else the pinned Hub release.
        counts: `table2` demands the paper's number of cases per cell, `any` takes what is there.
    """
    return build_task("personafeedback", category, difficulty, options=Options(data, setting, counts))


@task
def personafeedback_specific(setting: str = "persona", data: str | None = None, counts: str = "table2") -> Task:
    """PersonaFeedback, the specific cases, all difficulties; arguments as in `personafeedback`."""
    return build_task("personafeedback_specific", "specific", None, options=Options(data, setting, counts))


@task
def personafeedback_general(setting: str = "persona", data: str | None = None, counts: str = "table2") -> Task:
    """PersonaFeedback, the general cases, all difficulties; arguments as in `personafeedback`."""
    return build_task("personafeedback_general", "general", None, options=Options(data, setting, counts))


@task
def personafeedback_easy(setting: str = "persona", data: str | None = None, counts: str = "table2") -> Task:
    """PersonaFeedback, the easy cases, both categories; arguments as in `personafeedback`."""
    return build_task("personafeedback_easy", None, "easy", options=Options(data, setting, counts))


@task
def personafeedback_medium(setting: str = "persona", data: str | None = None, counts: str = "table2") -> Task:
    """PersonaFeedback, the medium cases, both categories; arguments as in `personafeedback`."""
    return build_task("personafeedback_medium", None, "medium", options=Options(data, setting, counts))


@task
def personafeedback_hard(setting: str = "persona", data: str | None = None, counts: str = "table2") -> Task:
    """PersonaFeedback, the hard cases, both categories; arguments as in `personafeedback`."""
    return build_task("personafeedback_hard", None, "hard", options=Options(data, setting, counts))


@task
def personafeedback_specific_easy(setting: str = "persona", data: str | None = None, counts: str = "table2") -> Task:
    """PersonaFeedback, the cell specific / easy; arguments as in `personafeedback`."""
    return build_task("personafeedback_specific_easy", "specific", "easy", options=Options(data, setting, counts))


@task
def personafeedback_specific_medium(setting: str = "persona", data: str | None = None, counts: str = "table2") -> Task:
    """PersonaFeedback, the cell specific / medium; arguments as in `personafeedback`."""
    return build_task("personafeedback_specific_medium", "specific", "medium", options=Options(data, setting, counts))


@task
def personafeedback_specific_hard(setting: str = "persona", data: str | None = None, counts: str = "table2") -> Task:
    """PersonaFeedback, the cell specific / hard; arguments as in `personafeedback`."""
    return build_task("personafeedback_specific_hard", "specific", "hard", options=Options(data, setting, counts))


@task
def personafeedback_general_easy(setting: str = "persona", data: str | None = None, counts: str = "table2") -> Task:
    """PersonaFeedback, the cell general / easy; arguments as in `personafeedback`."""
    return build_task("personafeedback_general_easy", "general", "easy", options=Options(data, setting, counts))


@task
def personafeedback_general_medium(setting: str = "persona", data: str | None = None, counts: str = "table2") -> Task:
    """PersonaFeedback, the cell general / medium; arguments as in `personafeedback`."""
    return build_task("personafeedback_general_medium", "general", "medium", options=Options(data, setting, counts))


@task
def personafeedback_general_hard(setting: str = "persona", data: str | None = None, counts: str = "table2") -> Task:
    """PersonaFeedback, the cell general / hard; arguments as in `personafeedback`."""
    return build_task("personafeedback_general_hard", "general", "hard", options=Options(data, setting, counts))
