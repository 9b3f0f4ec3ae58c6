"""Any task of Inspect with a user: its samples are asked with a persona in a system message, and nothing else changes."""

from typing import Any, Literal

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.with_user import with_messages
from personafeedback_tasks.personafeedback.system import told_by


@task
def with_user(
    task: str = "",
    setting: Literal["persona", "no_persona", "other_persona", "padding"] = "persona",
    user: str | None = None,
    data: str | None = None,
    **arguments: Any,
) -> Task:
    """A task of Inspect, each sample with a system message about a user before its own messages.

    One setting a run: the task's solver, scorer, metrics and epochs stay its own. `personafeedback cost` compares the runs.

    Args:
        task: a task's name or file, as `inspect eval` takes it: FILE.py@task.
        setting: what the message is: about a user, none, about another user, or as long and about nobody.
        user: the id of one user for all samples; without it samples whose metadata have user_id get theirs, others one by their id.
        data: a folder with persona/, `sample`, or a Hub dataset id; PERSONAFEEDBACK_DATA if not given.
        arguments: options of the task itself.
    """
    return with_messages(task, arguments, lambda: told_by(setting, user, data), setting)
