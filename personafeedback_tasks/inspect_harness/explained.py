"""The explanation of a score. A scorer sees no case: what is said of its texts is in the metadata of the sample, beside the ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai.solver import TaskState

from ..engine.benchmark import Benchmark
from ..engine.outcome import Outcome
from ..engine.rewards import TOTAL

FACTS = "about"
"""The key in the metadata. Logs from before there were explanations do not have it."""


def answers(benchmark: Benchmark, outcomes: Sequence[Outcome], state: TaskState) -> str | None:
    """What the answers of a sample mean, line by line under each setting; None if the benchmark does not say."""
    words = benchmark.explanations
    return _by_setting(outcomes, lambda one: words.of_answers(one.answers, _facts(state))) if words else None


def rewards(benchmark: Benchmark, outcomes: Sequence[Outcome], state: TaskState) -> str | None:
    """The same of the rewards of the responses."""
    words = benchmark.explanations
    return (
        _by_setting(outcomes, lambda one: words.of_rewards((one.rewards or {})[TOTAL], _facts(state)))
        if words
        else None
    )


def _by_setting(outcomes: Sequence[Outcome], said: Callable[[Outcome], str]) -> str:
    if len(outcomes) == 1:
        return said(outcomes[0])
    return "\n".join(f"{outcome.setting}: {said(outcome)}" for outcome in outcomes)


def _facts(state: TaskState) -> Mapping[str, Any]:
    found = (state.metadata or {}).get(FACTS)
    return found if isinstance(found, Mapping) else {}
