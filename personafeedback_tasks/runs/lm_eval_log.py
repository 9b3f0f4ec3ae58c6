"""Results and samples files of lm-evaluation-harness -> a run. Needs no lm-eval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..common import limits
from ..common.statistics import clustered_stderr, mean
from ..common.strict_json import lenient, short
from ..engine.answered import CaseAnswers
from ..engine.benchmark import Benchmark, Method
from ..engine.judged import LogLikelihoods, likeliest, per_call
from ..engine.judges import Reply
from ..engine.recorded import Key
from ..engine.signature import KEY
from ..engine.table import corpus_stderr, over_corpus
from . import checks, claims
from .asked import Spread
from .checks import LoggedCase
from .claims import Evidence
from .run import NO_SAMPLES, UNREADABLE, Asked, ForeignError, Run, RunError, model_conditions, needed, signed, text
from .unfinished import perhaps


def results_beside(samples: Path) -> Path | None:
    """The results file that lm-eval wrote with a samples file; None if there is none, and for any other file.

    Both end in the same time; `--output_path NAME.json` gives the results file another beginning.
    """
    if samples.suffix != ".jsonl" or not samples.name.startswith("samples_"):
        return None
    stamp = samples.stem.rpartition("_")[2]
    return next((path for path in sorted(samples.parent.glob(f"*_{stamp}.json")) if path.is_file()), None)


def read(path: Path) -> Run:
    """Read a results file, with the samples files beside it where `--log_samples` wrote them.

    Raises:
        RunError: a file is damaged, or contains tasks that are not ours.
    """
    return _run(path, None)


def read_leaf(path: Path) -> Run:
    """Read one samples file; the results file beside it says what was run.

    Raises:
        RunError: as `read`, and where there is no such results file.
    """
    results = results_beside(path)
    if results is None:
        raise RunError(
            f"{path}: found no results_*.json with the same timestamp beside it, expected the results file of the same run, "
            "which names the model, the setting and the prompt. Keep both together under their original names."
        )
    return _run(results, path)


def _run(path: Path, only: Path | None) -> Run:
    results = _load(path)
    stamp = path.stem.rpartition("_")[2]
    leaves = {
        task: config for task, config in results["configs"].items() if KEY in ((config or {}).get("metadata") or {})
    }
    if not leaves:
        raise ForeignError(
            f"{path}: found the tasks {', '.join(results['configs']) or 'none'}, expected tasks of personafeedback-tasks."
        )
    samples = {task: path.with_name(f"samples_{task}_{stamp}.jsonl") for task in leaves}
    if only is not None:
        leaves = {task: config for task, config in leaves.items() if samples[task] == only}
    signatures = {task: signed(config.get("metadata"), path) for task, config in leaves.items()}
    if not signatures:
        raise RunError(f"{only}: {path.name} beside it has no such task. Keep the files of one run together.")
    unchecked = [
        line
        for task, signature in signatures.items()
        for line in claims.compared(path, signature, _evidence(results, task, leaves[task]))
    ]
    logs = [samples[task] for task in leaves if samples[task].is_file()]
    if not logs and results.get("task_hashes"):  # lm-eval writes the samples, if they are logged, after the results
        raise RunError(
            f"{path}: found no samples_*.jsonl of its tasks beside it, expected those that the run logged. {perhaps('lm-eval')} "
            "If the files were moved, keep those of one run together."
        )
    if not logs:
        raise RunError(NO_SAMPLES.format(path))
    arguments = _arguments(results)
    key = next((key for key in _NAMES if key in arguments), "pretrained")
    run = Run(
        model=text(arguments[key])
        if key in arguments
        else str(results.get("model_source") or results.get("model_name")),
        harness=f"lm-eval {results.get('lm_eval_version', 'unknown')}",
        date=_date(path, results["date"]),
        signature=next(iter(signatures.values())),
        conditions=_conditions(results, leaves, arguments),
        cells={},
        cases={},
        logs=(path, only) if only else (path, *logs),
        loaded=(str(results["config"]["model"]), key),
        needed=needed(arguments),
        unchecked=tuple(dict.fromkeys(unchecked)),
    )
    _refuse_mixture(path, run, list(signatures.values()))
    cells: dict[str, int] = {}
    cases: dict[str, CaseAnswers] = {}
    otherwise = 0
    spread: Spread[tuple[str, dict[str, Any]]] = Spread()
    for task, signature in signatures.items():
        file = samples[task]
        if not file.is_file():
            raise RunError(
                f"{path}: found no {file.name} beside it, only those of other cells. Restore it. {perhaps('lm-eval')}"
            )
        cells |= checks.cells_of(path, signature, run.benchmark)
        found = list(_samples(file, run.benchmark, run.method, spread))
        of_task, differing = checks.answers_of(file, found, signature, run.benchmark)
        _refuse_other_table(file, results, task, found, run.benchmark)
        if twice := cases.keys() & of_task.keys():
            raise RunError(
                f"{file}: found {min(twice)} ({len(twice):,} in all), which are also in another cell's samples, expected each "
                "case in one cell. Use the files as lm-eval wrote them."
            )
        cases |= of_task
        otherwise += differing
    asked = tuple(_asked(where, row) for where, row in spread)
    return replace(run, cells=cells, cases=cases, otherwise=otherwise, asked=asked)


def _load(path: Path) -> dict[str, Any]:
    try:
        results = lenient(limits.read(path))
    except ValueError as error:
        raise RunError(
            f"{path}: found broken JSON ({error}), expected a results file of lm-eval. {perhaps('lm-eval')}"
        ) from error
    missing = [key for key in ("results", "configs", "date") if key not in results]
    if missing or not isinstance(results["configs"], dict):
        raise RunError(
            f"{path}: found no {' and no '.join(missing) or 'configs'} in it, expected a results file of lm-eval 0.4."
        )
    return results


def _date(path: Path, seconds: object) -> str:
    """ISO 8601, UTC.

    Args:
        seconds: since 1970.

    Raises:
        RunError: there is no such time.
    """
    try:
        return datetime.fromtimestamp(float(seconds), timezone.utc).isoformat(timespec="seconds")  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError) as error:
        raise RunError(
            f"{path}: found date = {short(seconds)}, expected a time in seconds since 1970. Use the file as lm-eval wrote it."
        ) from error


def _refuse_mixture(path: Path, run: Run, signatures: Sequence[Mapping[str, Any]]) -> None:
    """One invocation may run a task and its `_mc` twin, or two benchmarks."""
    for name in run.defining:
        values = sorted({str(signature.get(name)) for signature in signatures})
        if len(values) > 1:
            raise RunError(
                f"{path}: found several values of {name} ({', '.join(values)}), expected one per row. "
                "Pass the samples files of only one of them."
            )


def _samples(
    path: Path, benchmark: Benchmark, method: Method, spread: Spread[tuple[str, dict[str, Any]]]
) -> Iterator[LoggedCase]:
    for number, line in enumerate(limits.lines(path), start=1):
        try:
            row = lenient(line)
            yield from _sample(path, row, f"line {number}", benchmark, method)
            spread.offer(row["doc"]["id"], (f"line {number}", row))
        except RunError:
            raise
        except UNREADABLE as error:
            raise RunError(
                f"{path}, line {number}: found a row that cannot be read ({type(error).__name__}: {error}), expected one "
                f"that lm-eval logged for our tasks. {perhaps('lm-eval')}"
            ) from error


def _sample(path: Path, row: dict[str, Any], where: str, benchmark: Benchmark, method: Method) -> list[LoggedCase]:
    """The cases of a row."""
    document = row["doc"]
    targets = method.of_each(document["targets"])
    unread: tuple[tuple[str, str], ...] = ()
    likelihoods: list[LogLikelihoods] = []
    texts: list[Reply] = []
    each = len(benchmark.labels) if method.evidence == "log_likelihoods" else 1
    checks.refuse_other_number(path, where, list(map(len, row["resps"])), len(method.calls) * each)
    if method.read is None:
        # Per call, the log-likelihood of each label with "is greedy". Logged as text.
        likelihoods = per_call([float(value) for ((value, _),) in row["resps"]], benchmark.labels)
        again = [likeliest(benchmark.labels, values) for values in likelihoods]
        logged = per_call([float(value) for value, _ in row["filtered_resps"]], benchmark.labels)
        read = [likeliest(benchmark.labels, values) for values in logged]
    else:
        texts = [Reply(str(reply), None) for reply, *_ in row["resps"]]
        again = [method.read(reply.text, False) for reply in texts]
        read = again if method.described else list(row["filtered_resps"])
    answers, read_again = method.answers(read, len(targets)), method.answers(again, len(targets))
    if method.read is not None:
        unread = checks.unread_of(benchmark, answers, [reply.text for reply in texts])
    values = method.values(targets, answers, likelihoods, texts, document)
    checked = [metric.name for metric in method.metrics_in("lm-eval") if metric.name in values[0]]
    if row["metrics"] == ["bypass"]:  # --predict_only: nothing was scored
        checked = []
    one = [(document["id"], document["digest"], {name: row.get(name) for name in checked})]
    several = method.several and [
        (case_id, digest, {name: row[name][place] for name in checked})
        for place, (case_id, digest) in enumerate(checks.cases_of(path, where, document, len(targets)))
    ]
    return [
        LoggedCase(
            case_id, document["cell"], document["user_id"], digest, 1, target, answer, value, unread,
            where=where, again=again, logged=logged, checked=checked,
        )
        for (case_id, digest, logged), target, answer, again, value in zip(
            several or one, targets, answers, read_again, values, strict=True
        )
    ]  # fmt: skip


def _asked(where: str, row: dict[str, Any]) -> Asked:
    """The prompts of a row: those of a request are its arguments, of which the second may be its continuation."""
    requests = (row.get("arguments") or {}).values()
    texts = [[text for argument in request.values() for text in _texts(argument)] for request in requests]
    return Asked(where, row["doc"]["id"], texts)


def _texts(argument: Any) -> list[str]:
    """The texts of an argument of a request: a prompt, or the messages of a chat, which are logged as JSON in a list."""
    if isinstance(argument, str):
        return [argument]
    if isinstance(argument, list):
        if len(argument) == 1 and isinstance(argument[0], str):
            argument = lenient(argument[0])
        return [text for message in argument for text in _contents(message["content"])]
    return []  # generation arguments


def _contents(content: Any) -> list[str]:
    """The texts of a message, which may have parts."""
    return [content] if isinstance(content, str) else [str(part.get("text", "")) for part in content]


def _evidence(results: dict[str, Any], task: str, config: dict[str, Any]) -> Evidence:
    """lm-eval's own record of a task, beside its signature."""
    metadata, told = config["metadata"], config.get("dataset_kwargs") or {}
    arguments, kind = _arguments(results), results["config"]["model"]
    named = {text(arguments[name]) for name in (*_ADAPTERS, *_NAMES) if name in arguments}
    models = [("model_name", {str(results["model_name"])}, named)] if named and results.get("model_name") else []
    if results.get("model_source") not in (None, "CUSTOM"):  # the latter for a model that a program passed
        models.append(("model_source", {str(results["model_source"])}, {str(kind)}))
    return Evidence(
        task=task,
        place="the metadata of the task",
        options={**metadata, **({"method": told["method"]} if "method" in told else {})},
        fields={
            ("task_version", "the metadata of the task"): str(metadata.get("version")),
            ("task_version", "versions"): str((results.get("versions") or {}).get(task, metadata.get("version"))),
            ("task", "task_alias"): config.get("task_alias"),
            **({("benchmark", "dataset_kwargs"): told["benchmark"]} if "benchmark" in told else {}),
        },
        models=models,
    )


def replies(path: Path, method: Method) -> Iterator[tuple[Key, Reply]]:
    """Every reply in a samples file that was read before. lm-eval does not log whether one was cut off."""
    for row in map(lenient, limits.lines(path)):
        for call, (reply, *_) in zip(method.calls, row["resps"], strict=True):
            yield Key(row["doc"]["id"], call), Reply(str(reply), None)


def _refuse_other_table(
    path: Path, results: dict[str, Any], task: str, samples: Sequence[LoggedCase], benchmark: Benchmark
) -> None:
    """Raise RunError unless the number of cases and the means in the results file are those of the samples."""
    count = results["n-samples"][task]["effective"]
    rows = len({sample.where for sample in samples})
    if count != rows:
        lost = f"{perhaps('lm-eval')} " if rows < count else ""
        raise RunError(
            f"{path}: found {rows:,} rows of {task} in its samples file, expected {count:,}, as many as were "
            f"asked. {lost}If it is finished, rows were added or lost after it: use the files as lm-eval wrote them."
        )
    printed = {key.partition(",")[0]: value for key, value in results["results"][task].items() if "_stderr," not in key}
    if "bypass" in printed or not samples:
        return
    primary, users = benchmark.report.primary, [sample.user_id for sample in samples]
    judged = [[sample.judged] for sample in samples]
    ours = {name: mean(sample.values[name] for sample in samples) for name in samples[0].checked}
    if primary in ours:
        ours[f"{primary}_stderr_clustered"] = clustered_stderr([sample.values[primary] for sample in samples], users)
    for name, measure in benchmark.corpus.items():
        ours[name] = over_corpus(measure, judged)
        ours[f"{name}_stderr_clustered"] = corpus_stderr(measure, judged, users)
    checks.refuse_other_table(path, task, printed, ours, primary)


_ADAPTERS = ("peft", "delta")
"""The model arguments by which lm-eval names a model before those of _NAMES."""

_NAMES = ("pretrained", "model", "path", "engine")
"""The model arguments that name the model; lm-eval's own `model_name` is made up if none of them is given."""


def _arguments(results: dict[str, Any]) -> dict[str, Any]:
    arguments = results["config"].get("model_args") or {}
    if isinstance(arguments, str):
        arguments = dict(part.partition("=")[::2] for part in arguments.split(","))
    return dict(arguments)


def _conditions(
    results: dict[str, Any], leaves: dict[str, dict[str, Any]], arguments: dict[str, Any]
) -> dict[str, Any]:
    config = next(iter(leaves.values()))
    found = {
        # "" is a template that the server applies: the models behind an API have no other. None: --apply_chat_template was not given.
        "chat template": "not applied" if results.get("chat_template") is None else "applied",
        "few-shot": config.get("num_fewshot") or 0,
        **{name: value for name, value in sorted((config.get("generation_kwargs") or {}).items()) if name != "until"},
        **model_conditions(arguments),
    }
    if results.get("system_instruction"):
        found["system instruction"] = results["system_instruction"]
    return found
