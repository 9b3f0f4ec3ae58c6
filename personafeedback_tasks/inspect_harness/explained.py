"""The explanation of a score. A scorer sees no case: what is said of its texts is in the metadata of the sample, beside the ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.solver import TaskState

from ..engine.benchmark import Benchmark

FACTS = "about"
"""The key in the metadata. Logs from before there were explanations do not have it."""


def answers(benchmark: Benchmark, found: Sequence[str], state: TaskState) -> str | None:
    """What the answers of a sample mean; None if the benchmark does not say."""
    words = benchmark.explanations
    return words.of_answers(found, _facts(state)) if words else None


def rewards(benchmark: Benchmark, of_case: Sequence[float], state: TaskState) -> str | None:
    """The same of the rewards of the responses, that of the right one first."""
    words = benchmark.explanations
    return words.of_rewards(of_case, _facts(state)) if words else None


def _facts(state: TaskState) -> Mapping[str, Any]:
    found = (state.metadata or {}).get(FACTS)
    return found if isinstance(found, Mapping) else {}
