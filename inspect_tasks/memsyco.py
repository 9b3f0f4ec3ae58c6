"""The MemSyco-Bench tasks of Inspect, under the same names as in lm-eval."""

from typing import Any, Literal

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task, parameters_of


@task
def memsyco(
    part: Literal["objective_fact_judgment", "memory_evidence_conflict"] | None = None,
    setting: Literal["persona", "dialogue", "no_persona", "other_persona"] | list[str] = "persona",
    method: Literal["generate", "cot", "logprobs", "reward"] = "generate",
    data: str | None = None,
    counts: Literal["checked", "any"] = "checked",
    stop: str | None = None,
    **unknown: Any,
) -> Task:
    """MemSyco-Bench: all cases.

    The authors' data are not bundled: bring a checkout of their repository, or try `data=sample`, which is invented.

    Args:
        part: one of these alone.
        setting: what the model is told: the user's memory (an oracle), the conversation behind it, nothing, or another user's memory.
        method: how the model's choice is read.
        data: a folder, or `sample`; the benchmark's environment variable if not given.
        counts: `any` accepts what is present instead of the number of cases that the data must have.
        stop: ends the run as soon as it is decided: 5 (points) or acc:5 (Inspect).
        unknown: refused; Inspect would leave them out.
    """
    return build_task("memsyco", "", locals())


@task
@parameters_of(memsyco, "part")
def memsyco_objective_fact_judgment(**unknown: Any) -> Task:
    return build_task("memsyco", "objective_fact_judgment", locals())


@task
@parameters_of(memsyco, "part")
def memsyco_memory_evidence_conflict(**unknown: Any) -> Task:
    return build_task("memsyco", "memory_evidence_conflict", locals())
