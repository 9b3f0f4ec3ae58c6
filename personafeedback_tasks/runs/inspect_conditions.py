"""What decides the answers of an Inspect run beside its signature: generation arguments, of the model and of a grader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig

from ..engine.benchmark import Benchmark, benchmarks
from ..inspect_harness import calls
from ..inspect_harness.reward_api import API
from .log import Grader
from .model_arguments import model_conditions

_NO_CONDITION = (
    *("max_retries", "timeout", "attempt_timeout", "max_connections", "adaptive_connections", "batch", "cache"),
    "extra_headers",
)
"""Generation arguments that stay out of a signature: connection settings, and headers, which may hold a key."""


def conditions(log: EvalLog, noted: Callable[[str], str | list[str]]) -> dict[str, Any]:
    """The generation arguments in force, or a reward model's.

    Args:
        noted: name -> what a reward model's scores say of its `dtype` or `revision`; empty if nothing.
    """
    config = _generation(log.eval.model, [log.plan.config, log.eval.model_generate_config], log.eval.model_args)
    if log.eval.model.startswith(f"{API}/"):
        names = ("aspects", "truncate", "trust_remote_code", "unpinned")
        given = {name: value for name, value in log.eval.model_args.items() if name in names}
        config |= {
            name: ",".join(map(str, value)) if isinstance(value, list) else value for name, value in given.items()
        }
        config |= {"dtype": noted("dtype") or log.eval.model_args.get("dtype", "auto")}
        if commit := noted("revision"):
            config["revision"] = commit
    if (log.eval.config.epochs or 1) > 1:
        config["epochs"] = log.eval.config.epochs
    return dict(sorted(config.items()))


def grader(log: EvalLog, benchmark: Benchmark) -> Grader | None:
    """See `grader.grades`, which asks it with its own arguments over those of a judge."""
    graded = benchmark.graded
    role = (log.eval.model_roles or {}).get(graded.role) if graded else None
    if graded is None or role is None:
        return None
    model = role[0] if isinstance(role, list) else role
    arguments = _generation(model.model, [calls.text_config(graded.room), model.config], model.args)
    return Grader(model.model, dict(sorted(arguments.items())))


def _generation(model: str, configs: Sequence[GenerateConfig], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The generation arguments of a model."""
    found: dict[str, Any] = {}
    for config in configs:
        found |= config.model_dump(exclude_none=True)
    found = {name: value for name, value in found.items() if name not in _NO_CONDITION} | model_conditions(arguments)
    if model.partition("/")[0] in benchmarks():  # a judge of ours: which file or folder it answers from
        found |= arguments
    return found
