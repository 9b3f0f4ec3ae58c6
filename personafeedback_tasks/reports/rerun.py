"""The command lines that repeat a run, or ask the same under another setting."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..common import foreign
from ..common.errors import OptionError
from ..engine.benchmark import Benchmark
from ..engine.rewards import LOCAL
from ..runs import fields
from ..runs.model_arguments import ADDRESS
from ..runs.run import Run, text
from ..runs.signature_line import HUB_COMMIT, model_in_harness, without_folder
from .provider_variables import provider_variables

FOLDER = "FOLDER"
"""What a command has in place of the folder of the data."""

WIDTH = 78
"""Columns of a line of a command on a terminal."""

_PLAIN = re.compile(r"[\w./:@+-]+")
"""A value that `name=value,...` of lm-eval cannot misread."""


def commands(runs: Sequence[Run]) -> str:
    """What repeats runs of one benchmark, without anything private to this machine: one command for those that differ in the setting alone,
    after a comment on each of the things that the reader must fill in or set.
    """
    together = _together(runs)
    comments = dict.fromkeys(comment for run in together for comment in _comments(run))
    return "\n".join([*comments, *(" ".join(_words(run)) for run in together)])


def asking(run: Run, settings: Iterable[str]) -> list[str]:
    """The lines of the commands that ask the cases of a run under other settings, for a terminal of the machine of the run.

    Empty for replies that no harness asked for.
    """
    if not run.harness.startswith(("lm-eval", "inspect")):
        return []
    together = _together([_under(run, setting) for setting in settings])
    return [line for other in together for line in _broken(_words(other, public=False))]


def _under(run: Run, setting: str) -> Run:
    """The run as it would be under another setting; without the options that this one refuses, which have no effect there."""
    control, options = run.benchmark.report.control, run.benchmark.options
    assert control is not None  # or there is no other setting
    signature = {**run.signature, control.option: setting}
    try:
        options.read({**options.changed(signature), "method": run.method.name})
    except OptionError:
        kept = (control.option, *run.benchmark.report.wording)
        signature = {
            name: value for name, value in signature.items() if name in kept or name not in options.changed(signature)
        }
    return replace(run, signature=signature)


def _together(runs: Sequence[Run]) -> list[Run]:
    """The runs; those that differ in the setting alone as one, which has all of their settings."""
    control = runs[0].benchmark.report.control if runs else None
    if control is None:
        return list(runs)
    found: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        alike = replace(run, signature={**run.signature, control.option: ""})
        found.setdefault((run.harness, *_words(alike)), []).append(run)
    return [
        replace(
            alike[0],
            signature={
                **alike[0].signature,
                control.option: ",".join(str(run.signature[control.option]) for run in alike),
            },
        )
        for alike in found.values()
    ]


def _options(run: Run) -> dict[str, Any]:
    """The options that are not the defaults, with the data where an option names them."""
    signature, spec = run.signature, run.benchmark.report.card
    options = run.benchmark.options.changed(signature)
    source = str(signature["source"])
    if signature["demonstration"]:
        options["data"] = "sample"
    elif HUB_COMMIT.fullmatch(source) and (spec is None or source != f"{spec.dataset}@{spec.revision}"):
        options["data"] = source
    if signature["counts"] == "any" != run.benchmark.options.counts and not signature["demonstration"]:
        options["counts"] = "any"
    return options


def _is_in_folder(run: Run) -> bool:
    """Whether the data are in a folder, whose name the variable of the benchmark has."""
    return not run.signature["demonstration"] and not HUB_COMMIT.fullmatch(str(run.signature["source"]))


def _comments(run: Run) -> list[str]:
    comments = []
    if _is_in_folder(run):
        of = f"the set {foreign.comment(run.named_set.name)}" if run.named_set else "the data of the run"
        comments.append(f"# {FOLDER}: with {of} (sha256 {run.signature['data']})")
    if run.needed.get("base_url") == ADDRESS:
        comments.append(f"# {ADDRESS}: {_which(run)}; it may be private and is not published")
    if variables := provider_variables(run):
        comments.append(f"# Set first: {', '.join(map(foreign.comment, variables))}")
    if _is_local(run):
        comments.append("# The model or its tokenizer is in a local folder: run this in the folder that contains it")
    return comments


def _words(run: Run, public: bool = True) -> list[str]:
    """The words of a command for a shell, each with its value.

    Args:
        public: for any machine: leave the folders of this one out, and do not rely on a variable that names the data here.
    """
    variable = run.benchmark.report.environment
    place = "" if public else os.environ.get(variable, "")
    named = bool(place) and os.path.realpath(place) == os.path.realpath(run.signature["source"])
    before = [f"{variable}={FOLDER}"] if _is_in_folder(run) and not named else []
    of_harness = _lm_eval if run.harness.startswith("lm-eval") else _inspect
    return [*before, *of_harness(run, _options(run), public)]


def _broken(words: Sequence[str]) -> list[str]:
    """A command in lines that a shell joins again."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) + 3 <= WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(f"  {word}")
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def _which(run: Run) -> str:
    if not run.harness.startswith("lm-eval"):
        return "the server's base address, such as http://localhost:8000/v1"
    path = "chat/completions" if "chat" in run.loaded[0] else "completions"
    return f"the server's full address, such as http://localhost:8000/v1/{path}"


def _is_local(run: Run) -> bool:
    """Whether a folder's name in the command was a path of the machine of the run."""
    paths = [value for value in _arguments(run).values() if isinstance(value, str)]
    return model_in_harness(run) != run.model or any(without_folder(path) != path for path in paths)


def _lm_eval(run: Run, options: Mapping[str, Any], public: bool) -> list[str]:
    tasks = [run.benchmark.task(name, run.method.suffix) for name in selections(run.benchmark, run.cells)]
    kind, name = run.loaded
    arguments = {name: _model(run, public), **_arguments(run, public)}
    words = ["lm_eval", "run", '--include_path "$(personafeedback task-configs)"', _option("--model", kind)]
    words += [_option("--model_args", _model_args(arguments)), _option("--tasks", ",".join(tasks))]
    if run.conditions.get("chat template") == "applied":
        words.append("--apply_chat_template")
    words += _flag(run, "few-shot", "--num_fewshot", 0)
    words += _flag(run, "max_gen_toks", "--gen_kwargs", run.method.room, "max_gen_toks=")
    if options:
        words.append(_option("--metadata", json.dumps(options)))
    return [*words, "--log_samples", _option("--output_path", "results")]


def _model_args(arguments: Mapping[str, Any]) -> str:
    """`name=value,...`; JSON where lm-eval would split or convert a value."""
    shown = {name: "None" if value is None else text(value) for name, value in arguments.items()}
    if all(_PLAIN.fullmatch(value) for value in shown.values()):
        return ",".join(f"{name}={value}" for name, value in shown.items())
    return json.dumps(arguments, ensure_ascii=False)


def _inspect(run: Run, options: Mapping[str, Any], public: bool) -> list[str]:
    tasks = [f"personafeedback_tasks/{run.benchmark.task(name)}" for name in selections(run.benchmark, run.cells)]
    words = ["inspect", "eval", *map(shlex.quote, tasks), _option("--model", _with_provider(run, public))]
    arguments = _arguments(run, public)
    if "base_url" in arguments:
        words.append(_option("--model-base-url", text(arguments.pop("base_url"))))
    words += _flag(run, "max_tokens", "--max-tokens", run.method.room) + _flag(run, "epochs", "--epochs", 1)
    named = {**options, **({"method": run.method.name} if run.method.suffix else {})}
    for name, value in named.items():
        words.append(_option("-T", f"{name}={','.join(value) if isinstance(value, list) else text(value)}"))
    for name, value in arguments.items():
        words.append(_option("-M", f"{name}={text(value)}"))
    return words


def _model(run: Run, public: bool) -> str:
    return model_in_harness(run) if public else run.model


def _with_provider(run: Run, public: bool) -> str:
    """The model as Inspect names it; a path behind the provider's name loses its folders alone."""
    name = _model(run, public)
    return name if name == run.model else f"{run.model.partition('/')[0]}/{name}"


def _arguments(run: Run, public: bool = False) -> dict[str, Any]:
    """The model arguments that a rerun needs, beside the one that names the model.

    Args:
        public: leave the folders of this machine out.
    """
    names = fields.named("model_args", fields.CONDITION)
    if run.method.evidence == "rewards":  # its dtype is what the machine made of `auto`
        names = ("aspects", "truncate", "trust_remote_code", "unpinned", "revision")
    conditions = {name: run.conditions[name] for name in names if name in run.conditions}
    # A list: resumed after a branch moved.
    found = dict(run.needed) | {
        name: value for name, value in conditions.items() if value != LOCAL and not isinstance(value, list)
    }
    return {
        name: without_folder(value) if public and isinstance(value, str) else value for name, value in found.items()
    }


def _option(name: str, value: str) -> str:
    return f"{name} {shlex.quote(value)}"


def selections(benchmark: Benchmark, cells: Mapping[str, int]) -> list[str]:
    """The ends of the task names: that of the one task that has just these cells, else those of the cells, or of the only task."""
    selected = benchmark.selections
    for name, narrowed in selected.items():
        if set(cells) == {cell for cell in benchmark.cells if narrowed.items() <= selected.get(cell, {}).items()}:
            return [name]
    return [cell for cell in benchmark.cells if cell in cells and cell in selected] or [""]


def _flag(run: Run, name: str, option: str, default: object, prefix: str = "") -> list[str]:
    value = run.conditions.get(name, default)
    return [] if value == default else [_option(option, f"{prefix}{text(value)}")]
