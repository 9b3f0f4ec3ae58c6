"""The MemSyco-Bench tasks of Inspect, under the same names as in lm-eval."""

from typing import Any

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task


@task
def memsyco(**options: Any) -> Task:
    """All cases.

    The authors' data are not bundled: bring a checkout of their repository, or try `data=sample`, which is invented.

    Args:
        options: of docs/options.md: setting, method, data and counts.
    """
    return build_task("memsyco", "", options)


@task
def memsyco_objective_fact_judgment(**options: Any) -> Task:
    return build_task("memsyco", "objective_fact_judgment", options)


@task
def memsyco_memory_evidence_conflict(**options: Any) -> Task:
    return build_task("memsyco", "memory_evidence_conflict", options)
