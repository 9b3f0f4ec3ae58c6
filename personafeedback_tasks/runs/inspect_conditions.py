"""The conditions of an Inspect run beside its signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig

from ..engine.benchmark import Benchmark
from ..inspect_harness.reward_api import API
from . import fields


def conditions(log: EvalLog, benchmark: Benchmark, noted: Callable[[str], str | list[str]]) -> dict[str, Any]:
    """The conditions in the header of a log.

    Args:
        noted: name -> what a reward model's scores say of its `dtype` or `revision`; empty if nothing.
    """
    spec = log.eval
    found = _generation([spec.model_generate_config, log.plan.config], spec.model_args)  # in Inspect's order
    if spec.model.startswith(f"{API}/"):
        found |= {
            name: ",".join(value) for name, value in found.items() if name == "aspects" and isinstance(value, list)
        }
        found |= {"dtype": noted("dtype") or spec.model_args.get("dtype", "auto")}
        if commit := noted("revision"):
            found["revision"] = commit
    options = {name: value for name, value in spec.task_args.items() if name not in benchmark.arguments}
    for schema, record in (("EvalSpec", vars(spec)), ("EvalConfig", vars(spec.config))):
        found |= fields.conditions(f"inspect {schema}", record)
    found |= fields.conditions("metadata", spec.metadata or {}) | fields.conditions("task_args", options)
    return dict(sorted(found.items()))


def is_cached(log: EvalLog) -> bool:
    """Whether replies may come from Inspect's cache."""
    configs = [log.plan.config, log.eval.model_generate_config]
    return any(
        vars(config).get(name) for config in configs for name in fields.named("inspect GenerateConfig", fields.REASON)
    )


def _generation(configs: Sequence[GenerateConfig], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The conditions among the arguments of a model."""
    given: dict[str, Any] = {}
    for config in configs:
        given |= config.model_dump(exclude_none=True)
    return fields.conditions("inspect GenerateConfig", given) | fields.conditions("model_args", arguments)
