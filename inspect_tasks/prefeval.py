"""The PrefEval task of Inspect, under the same name as in lm-eval."""

from typing import Any, Literal

from inspect_ai import Task, task

from personafeedback_tasks.inspect_harness.tasks import build_task


@task
def prefeval(
    setting: Literal["persona", "no_persona", "other_persona"] | list[str] = "persona",
    method: Literal["generate", "cot", "logprobs", "reward"] = "generate",
    data: str | None = None,
    counts: Literal["checked", "any"] = "checked",
    stop: str | None = None,
    **unknown: Any,
) -> Task:
    """PrefEval: all cases.

    The authors' data are not bundled: bring a checkout of their repository, or try `data=sample`, which is invented.

    Args:
        setting: what the model is told: about the user, nothing, or about another user.
        method: how the model's choice is read.
        data: a folder, or `sample`; the benchmark's environment variable if not given.
        counts: `any` accepts what is present instead of the number of cases that the data must have.
        stop: ends the run as soon as it is decided: 5 (points) or acc:5 (Inspect).
        unknown: refused; Inspect would leave them out.
    """
    return build_task("prefeval", "", locals())
