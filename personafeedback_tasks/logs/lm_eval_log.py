"""Results and samples files of lm-evaluation-harness -> a log. Needs no lm-eval."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce
from itertools import chain
from operator import add
from pathlib import Path
from typing import Any

import msgspec

from ..common.records import lenient, short
from ..core import window
from ..core.benchmark import FACTS, find
from ..core.cases import digest_of
from ..core.method import Evidence, Reply, ReplyMethod, of_settings, per_call, text_in
from ..core.signature import KEY, Signature
from ..core.thinking import token_limit
from ..core.usage import Usage
from . import fields
from .errors import AS_WRITTEN, NO_SAMPLES, UNREADABLE, ForeignError, RunError, perhaps, refused
from .log import Log, Sample, cases_in, cells_of, in_short, signed
from .prompts import LABEL, Asked, Call, Wrapping
from .run import Run, text


def results_beside(samples: Path) -> Path | None:
    """The results file that lm-eval wrote with a samples file; None if there is none, and for any other file.

    Both end in the same time; `--output_path NAME.json` gives the results file another beginning.
    """
    if samples.suffix != ".jsonl" or not samples.name.startswith("samples_"):
        return None
    stamp = samples.stem.rpartition("_")[2]
    return next((path for path in sorted(samples.parent.glob(f"*_{stamp}.json")) if path.is_file()), None)


def samples_beside(results: Path, task: str) -> Path:
    """The samples file of a task that lm-eval writes with a results file, if samples are logged."""
    return results.with_name(f"samples_{task}_{results.stem.rpartition('_')[2]}.jsonl")


def opened(path: Path, texts: bool, only: Collection[Path] = ()) -> list[Log]:
    """The logs of a results file with the samples files beside it, or of one samples file with its results file.

    Tasks that were asked otherwise, such as one and its `_mc` twin, or of another benchmark, are logs of their own.

    Raises:
        RunError: a file is damaged or missing, or contains tasks that are not ours.
    """
    if path.suffix == ".jsonl":
        beside = results_beside(path)
        if beside is None:
            raise RunError(
                f"{path}: found no results_*.json with the same timestamp beside it, expected the results file of the "
                "same run, which names the model, the setting and the prompt. Keep both together under their original "
                "names."
            )
        path, only = beside, [path]
    results = _load(path)
    leaves = {
        task: config for task, config in results["configs"].items() if KEY in ((config or {}).get("metadata") or {})
    }
    if not leaves:
        raise ForeignError(
            f"{path}: found the tasks {', '.join(results['configs']) or 'none'}, expected tasks of "
            "personafeedback-tasks."
        )
    samples = {task: samples_beside(path, task) for task in leaves}
    strange = [file for file in only if file not in samples.values() and results_beside(file) == path]
    if strange:
        raise RunError(f"{min(strange)}: {path.name} beside it has no such task. Keep the files of one run together.")
    if only:
        samples = {task: file for task, file in samples.items() if file in only}
    there = [file for file in samples.values() if file.is_file()]
    if not there and results.get("task_hashes"):  # lm-eval writes the samples, if they are logged, after the results
        raise RunError(
            f"{path}: found no samples_*.jsonl of its tasks beside it, expected those that the run logged. "
            f"{perhaps('lm-eval')} If the files were moved, keep those of one run together."
        )
    if not there:
        raise RunError(NO_SAMPLES.format(path))
    for file in samples.values():
        if not file.is_file():
            raise RunError(
                f"{path}: found no {file.name} beside it, only those of other cells. Restore it. {perhaps('lm-eval')}"
            )
    every = {task: signed(leaves[task].get("metadata"), path) for task in samples}
    alike: dict[str, dict[str, Path]] = {}
    for task, file in samples.items():
        asked = [signature.defining for signature in every[task]]
        alike.setdefault(repr(asked), {})[task] = file
    return [_log(path, results, tasks, every, texts) for tasks in alike.values()]


def _log(
    path: Path,
    results: dict[str, Any],
    tasks: Mapping[str, Path],
    every: Mapping[str, Sequence[Signature]],
    texts: bool,
) -> Log:
    configs = {task: results["configs"][task] for task in tasks}
    for task, config in configs.items():
        if config.get("num_fewshot"):
            found = f"num_fewshot {config['num_fewshot']} of {task}"
            raise refused(path, found, "0, since our prompts have no examples")
    task, first = next(iter(configs.items()))
    signatures = every[task]
    cache = next((str(results["config"][name]) for name in _CACHE if results["config"].get(name)), "")
    rows = _Rows(results, signatures, {} if cache else None)
    cells: dict[str, int] = {}
    for task in tasks:
        cells |= cells_of(path, every[task][0])
    asked = chain.from_iterable(
        rows.read(file, task, int(results["n-samples"][task]["effective"])) for task, file in tasks.items()
    )
    samples = in_short(asked, texts)
    run = Run(
        model=model_of(results),
        harness=f"lm-eval {results.get('lm_eval_version', 'unknown')}",
        date=_date(path, results["date"]),
        signature=signatures[0],
        conditions=_conditions(signatures[0].benchmark, results, first),
        cells=cells,
        results=(),
        logs=(path, *tasks.values()),
        cache=cache,
        cached=rows.cached or {},
        prompts=reduce(add, (window.logged(config["metadata"]) for config in configs.values())),
    )
    runs = [replace(run, signature=signature) for signature in signatures]
    return Log(runs=runs, samples=samples, max_tokens=token_limit(first.get("generation_kwargs")))


def _load(path: Path) -> dict[str, Any]:
    try:
        results = lenient(path.read_bytes())
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
    try:
        return datetime.fromtimestamp(float(seconds), UTC).isoformat(timespec="seconds")  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError) as error:
        advice = "Use the file as lm-eval wrote it."
        raise refused(path, f"date = {short(seconds)}", "a time in seconds since 1970", advice) from error


class _Row(msgspec.Struct):
    """The fields that we read from a row of a samples file."""

    doc: dict[str, Any]
    resps: list[list[Any]]  # of each request its replies
    metrics: list[str]
    arguments: dict[str, dict[str, Any]] | None = None  # request -> name -> its prompt; generation arguments or a label


class _Rows:
    """Reads samples files of one method."""

    def __init__(
        self, results: Mapping[str, Any], signatures: Sequence[Signature], cached: dict[str, str] | None
    ) -> None:
        self.benchmark = find(signatures[0].benchmark)
        self.method = self.benchmark.methods[signatures[0].method]
        self.settings = [self.benchmark.setting(signature.options) for signature in signatures]
        inserted = [results.get(f"tokenizer_{name}_token") for name in ("bos", "eos", "pad")]
        inserted.append(_arguments(results).get("chat_template_args"))
        self.wrapping = Wrapping(results.get("system_instruction") or "", results.get("chat_template"), str(inserted))
        # request -> reply, both hashed, since lm-eval looks requests up by their arguments; None without a cache
        self.cached = cached

    def read(self, path: Path, task: str, count: int) -> Iterator[Sample]:
        rows = 0
        with open(path, "rb", buffering=2**18) as file:  # many rows are longer than a buffer of the default size
            for number, line in enumerate(file, start=1):
                if line.isspace():  # an editor's
                    continue
                try:
                    row: _Row = lenient(line, _Row)
                    rows += row.metrics != []  # lm-eval does not count a case that our task leaves out
                    yield from self._samples(row, f"{path}, line {number}")
                except RunError:
                    raise
                except UNREADABLE as error:
                    advice = AS_WRITTEN if line.endswith(b"\n") else perhaps("lm-eval")
                    raise RunError(
                        f"{path}, line {number}: found a row that cannot be read ({type(error).__name__}: {error}), "
                        f"expected one that lm-eval logged for our tasks. {advice}"
                    ) from error
        if rows != count:
            advice = f"{perhaps('lm-eval')} " if rows < count else ""
            advice += "If it is finished, rows were added or lost after it: use the files as lm-eval wrote them."
            raise refused(
                path, f"{rows:,} rows of {task} in its samples file", f"{count:,}, as many as were asked", advice
            )

    def _samples(self, row: _Row, where: str) -> Iterator[Sample]:
        # its filter leaves the reading of a reply, or the text where that is measured; a log-likelihood stays one
        logged, method, settings = row.doc, self.method, self.settings
        cases = cases_in(where, self.benchmark, method, settings, logged)
        each = len(method.calls) * method.requests
        replies, requested = [*map(len, row.resps)], each * len(settings)
        if replies != [1] * requested:
            found = f"{sum(replies)} replies to {len(replies)} requests"
            raise refused(where, found, f"one to each of {requested}", AS_WRITTEN)
        evidence: Sequence[Evidence]
        if isinstance(method, ReplyMethod):
            evidence = [Reply(text_in(reply), None) for (reply,) in row.resps]
        else:  # per call, the log-likelihood of each label with "is greedy", logged as text
            evidence = per_call([float(value) for ((value, _),) in row.resps], self.benchmark.labels)
        requests = [*(row.arguments or {}).values()]
        if self.cached is not None:
            for asked, said in zip(requests, row.resps, strict=False):
                self.cached[digest_of([asked])] = digest_of([said])
        parts = (of_settings(of, len(settings)) for of in (evidence, [*map(_sent, requests)]))
        for setting, own, given, sent in zip(settings, cases, *parts, strict=True):
            yield Sample(
                where=where,
                id=logged["id"],
                setting=setting,
                cases=own,
                evidence=given,
                usage=[Usage(calls=each)],
                asked=Asked(where, logged["id"], sent, self.wrapping, facts=logged.get(FACTS)),
            )


def _sent(request: Mapping[str, Any]) -> Call:
    # the prompt, then a label, or generation arguments, which are no text
    prompt, *rest = request.values()
    if isinstance(prompt, str):
        sent = [("", prompt)]
    else:  # a chat is logged as JSON in a list
        messages = lenient(prompt[0]) if len(prompt) == 1 and isinstance(prompt[0], str) else prompt
        sent = [(message["role"], _content(message["content"])) for message in messages]
    return (*sent, *[(LABEL, label.strip()) for label in rest if isinstance(label, str)])


def _content(content: Any) -> str:
    return content if isinstance(content, str) else "".join(str(part.get("text", part)) for part in content)


_CACHE = fields.named("lm_eval _EvalConfig", fields.REASON)

# the model arguments that name the model
_NAMES = ("pretrained", "model", "path", "engine")


def model_of(results: dict[str, Any]) -> str:
    """The model of a results file."""
    arguments = _arguments(results)
    if named_by := _named_by(arguments):
        return text(arguments[named_by])
    return str(results.get("model_source") or results.get("model_name"))


def _named_by(arguments: Mapping[str, Any]) -> str:
    return next((name for name in _NAMES if name in arguments), "")


def _arguments(results: Mapping[str, Any]) -> dict[str, Any]:
    arguments = results["config"].get("model_args") or {}
    if isinstance(arguments, str):
        arguments = dict(part.partition("=")[::2] for part in arguments.split(","))
    return dict(arguments)


def _conditions(benchmark: str, results: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    arguments, metadata = _arguments(results), config["metadata"]
    # "": the server applies its template, as behind an API. None: --apply_chat_template was not given.
    template = "not applied" if results.get("chat_template") is None else "applied"
    digest = str(results.get("chat_template_sha") or "")[:12]
    # lm-eval's command adds the model's arguments to the metadata of a task.
    besides = {*find(benchmark).options.table(), *arguments}
    records: tuple[tuple[str, Mapping[str, Any]], ...] = (
        ("lm_eval EvalResults", {**results, "chat_template": template, "chat_template_sha": digest}),
        ("lm_eval _EvalConfig", results["config"]),
        ("lm_eval TaskConfig", {**config, "num_fewshot": config.get("num_fewshot") or 0}),
        ("metadata", {name: value for name, value in metadata.items() if name not in besides}),
        ("model_args", {name: value for name, value in arguments.items() if name != _named_by(arguments)}),
        ("generation_kwargs", config.get("generation_kwargs") or {}),
    )
    return dict(sorted((name, value) for of in records for name, value in fields.conditions(*of).items()))
