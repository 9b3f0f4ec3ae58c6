"""The command line that repeats a run, without anything private to this machine."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from ..common import foreign
from ..engine.benchmark import Benchmark
from ..engine.report import CardSpec
from ..engine.rewards import LOCAL
from ..runs.run import ADDRESS, MODEL_ARGUMENTS, Run, text
from ..runs.signature_line import HUB_COMMIT, model_of, without_folder

FOLDER = "FOLDER"
"""What a command has in place of the folder of the data."""

_PLAIN = re.compile(r"[\w./:@+-]+")
"""A value that `name=value,...` of lm-eval cannot misread."""


def command(run: Run, spec: CardSpec) -> str:
    """One line for a shell, after a comment on each of the things that the reader must fill in."""
    options, before, comments = run.benchmark.options.changed(run.signature), "", []
    source = str(run.signature["source"])
    if not HUB_COMMIT.fullmatch(source):
        before = f"{run.benchmark.report.environment}={FOLDER} "
        of = f"the set {foreign.comment(run.named_set.name)}" if run.named_set else "the data of the run"
        comments.append(f"# {FOLDER}: with {of} (sha256 {run.signature['data']})")
    elif source != f"{spec.dataset}@{spec.revision}":
        options["data"] = source
    if run.needed.get("base_url") == ADDRESS:
        comments.append(f"# {ADDRESS}: {_which(run)}; it may be private and is not published")
    if _is_local(run):
        comments.append("# The model or its tokenizer is in a local folder: run this in the folder that contains it")
    words = _lm_eval(run, options) if run.harness.startswith("lm-eval") else _inspect(run, options)
    return "\n".join([*comments, before + words])


def _which(run: Run) -> str:
    if not run.harness.startswith("lm-eval"):
        return "the server's base address, such as http://localhost:8000/v1"
    path = "chat/completions" if "chat" in run.loaded[0] else "completions"
    return f"the server's full address, such as http://localhost:8000/v1/{path}"


def _is_local(run: Run) -> bool:
    """Whether a folder's name in the command was a path of the machine of the run."""
    paths = [value for value in _arguments(run).values() if isinstance(value, str)]
    return model_of(run) != run.model or any(without_folder(path) != path for path in paths)


def _lm_eval(run: Run, options: Mapping[str, Any]) -> str:
    tasks = [run.benchmark.task(name, run.method.suffix) for name in selections(run.benchmark, run.cells)]
    kind, name = run.loaded
    words = ["--model", kind, "--model_args", _model_args({name: model_of(run), **_public(_arguments(run))})]
    words += ["--tasks", ",".join(tasks)]
    if run.conditions.get("chat template") == "applied":
        words.append("--apply_chat_template")
    words += _flag(run, "few-shot", "--num_fewshot", 0)
    words += _flag(run, "max_gen_toks", "--gen_kwargs", run.method.room, "max_gen_toks=")
    if options:
        words += ["--metadata", json.dumps(options)]
    words += ["--log_samples", "--output_path", "results"]
    return f'lm_eval run --include_path "$(personafeedback task-configs)" {shlex.join(words)}'


def _model_args(arguments: Mapping[str, Any]) -> str:
    """`name=value,...`; JSON where lm-eval would split or convert a value."""
    shown = {name: "None" if value is None else text(value) for name, value in arguments.items()}
    if all(_PLAIN.fullmatch(value) for value in shown.values()):
        return ",".join(f"{name}={value}" for name, value in shown.items())
    return json.dumps(arguments, ensure_ascii=False)


def _inspect(run: Run, options: Mapping[str, Any]) -> str:
    tasks = [f"personafeedback_tasks/{run.benchmark.task(name)}" for name in selections(run.benchmark, run.cells)]
    words = ["inspect", "eval", *tasks, "--model", _with_provider(run)]
    arguments = _public(_arguments(run))
    if "base_url" in arguments:
        words += ["--model-base-url", text(arguments.pop("base_url"))]
    words += _flag(run, "max_tokens", "--max-tokens", run.method.room) + _flag(run, "epochs", "--epochs", 1)
    named = {**options, **({"method": run.method.name} if run.method.suffix else {})}
    for name, value in named.items():
        words += ["-T", f"{name}={','.join(value) if isinstance(value, list) else text(value)}"]
    for name, value in arguments.items():
        words += ["-M", f"{name}={text(value)}"]
    return shlex.join(words)


def _with_provider(run: Run) -> str:
    """The model as Inspect names it; a path behind the provider's name loses its folders alone."""
    name = model_of(run)
    return name if name == run.model else f"{run.model.partition('/')[0]}/{name}"


def _arguments(run: Run) -> dict[str, Any]:
    """The model arguments that a rerun needs, beside the one that names the model."""
    names: tuple[str, ...] = MODEL_ARGUMENTS
    if run.method.evidence == "rewards":  # its dtype is what the machine made of `auto`
        names = ("aspects", "truncate", "trust_remote_code", "unpinned", "revision")
    conditions = {name: run.conditions[name] for name in names if name in run.conditions}
    # A list: resumed after a branch moved.
    return dict(run.needed) | {
        name: value for name, value in conditions.items() if value != LOCAL and not isinstance(value, list)
    }


def _public(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without the folders of this machine."""
    return {name: without_folder(value) if isinstance(value, str) else value for name, value in arguments.items()}


def selections(benchmark: Benchmark, cells: Mapping[str, int]) -> list[str]:
    """The ends of the task names: that of the one task that has just these cells, else those of the cells."""
    selected = benchmark.selections  # a benchmark with one cell has no task for it beside its only one
    for name, narrowed in selected.items():
        if set(cells) == {cell for cell in benchmark.cells if narrowed.items() <= selected.get(cell, {}).items()}:
            return [name]
    return [cell for cell in benchmark.cells if cell in cells]


def _flag(run: Run, name: str, option: str, default: object, prefix: str = "") -> list[str]:
    value = run.conditions.get(name, default)
    return [] if value == default else [option, f"{prefix}{text(value)}"]
