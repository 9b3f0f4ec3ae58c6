"""The PrefEval task of Inspect, under the same name as in lm-eval."""

from typing import Any

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task


@task
def prefeval(**options: Any) -> Task:
    """All cases.

    The authors' data are not bundled: bring a checkout of their repository, or try `data=sample`, which is invented.

    Args:
        options: of docs/options.md: setting, method, data and counts.
    """
    return build_task("prefeval", "", options)
