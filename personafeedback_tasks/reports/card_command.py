"""The command line that repeats a run, without anything private to this machine."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from ..engine.benchmark import Benchmark
from ..engine.report import CardSpec
from ..reward_models.source import LOCAL
from ..runs.run import Run, text
from .signature_line import HUB_COMMIT, model_of, without_folder


def command(run: Run, spec: CardSpec) -> str:
    """One line for a shell."""
    options, before = run.benchmark.options.changed(run.signature), ""
    source = str(run.signature["source"])
    if not HUB_COMMIT.fullmatch(source):
        before = f"{spec.environment}=FOLDER "
    elif source != f"{spec.dataset}@{spec.revision}":
        options["data"] = source
    words = _lm_eval(run, options) if run.harness.startswith("lm-eval") else _inspect(run, options)
    return before + " ".join(map(shlex.quote, words))


def _lm_eval(run: Run, options: Mapping[str, Any]) -> list[str]:
    tasks = [run.benchmark.task(name, run.method.suffix) for name in _selections(run.benchmark, run.cells)]
    kind, name = run.loaded
    words = ["lm_eval", "run", "--model", kind, "--model_args", f"{name}={model_of(run)}", "--tasks", ",".join(tasks)]
    if run.conditions.get("chat template") == "applied":
        words.append("--apply_chat_template")
    words += _flag(run, "few-shot", "--num_fewshot", 0)
    words += _flag(run, "max_gen_toks", "--gen_kwargs", run.method.room, "max_gen_toks=")
    if options:
        words += ["--metadata", json.dumps(options)]
    return [*words, "--log_samples", "--output_path", "results"]


def _inspect(run: Run, options: Mapping[str, Any]) -> list[str]:
    tasks = [f"personafeedback_tasks/{run.benchmark.task(name)}" for name in _selections(run.benchmark, run.cells)]
    words = ["inspect", "eval", *tasks, "--model", model_of(run)]
    words += _flag(run, "max_tokens", "--max-tokens", run.method.room) + _flag(run, "epochs", "--epochs", 1)
    named = {**options, **({"method": run.method.name} if run.method.suffix else {})}
    for name, value in named.items():
        words += ["-T", f"{name}={','.join(value) if isinstance(value, list) else text(value)}"]
    if run.method.evidence == "rewards":
        for name in ("aspects", "truncate", "trust_remote_code", "unpinned", "revision"):
            value = run.conditions.get(name)
            single = not isinstance(value, list)  # a list: resumed after a branch moved
            if single and value not in (None, LOCAL):
                words += ["-M", f"{name}={without_folder(text(value))}"]
    return words


def _selections(benchmark: Benchmark, cells: Mapping[str, int]) -> list[str]:
    """The ends of the task names: that of the one task that has just these cells, else those of the cells."""
    for name, narrowed in benchmark.selections.items():
        if set(cells) == {cell for cell in benchmark.cells if narrowed.items() <= benchmark.selections[cell].items()}:
            return [name]
    return [cell for cell in benchmark.cells if cell in cells]


def _flag(run: Run, name: str, option: str, default: object, prefix: str = "") -> list[str]:
    value = run.conditions.get(name, default)
    return [] if value == default else [option, f"{prefix}{text(value)}"]
