"""Any Inspect task with a user: each sample gets a persona in a system message, and nothing else changes."""

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

    Run it once per setting. The task keeps its own solver, scorer, metrics and epochs. `personafeedback cost` compares
    the runs.

    Args:
        task: a task's name or file, as `inspect eval` takes it: FILE.py@task.
        setting: whose profile the message holds: the user's or another user's. `padding` sends neutral text of the same
            length, `no_persona` no message.
        user: the id of one user for all samples. Default: the user_id in a sample's metadata, else drawn by sample id.
        data: a folder with persona/, `sample`, or a Hub dataset id; PERSONAFEEDBACK_DATA if not given.
        arguments: options of the task itself.
    """
    return with_messages(task, arguments, lambda: told_by(setting, user, data), setting)
