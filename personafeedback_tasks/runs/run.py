"""Logs of either harness -> runs: who was asked what, and the answers of every case.

A run is one model under one setting, one method and one prompt on one copy of the data. Its cells may lie in several
logs. What a log holds is known by its content, never by its name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..common.errors import PersonaFeedbackError
from ..common.foreign import without_password
from ..common.strict_json import cut
from ..personafeedback.prompts import K, remarks

Answers = tuple[str, ...]
"""One answer per order of `orders.ORDERS`: `A`, `B`, or the reason why the reply is unreadable."""


UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What a reader of logs meets where a value is not of the type that it should be."""


class RunError(PersonaFeedbackError):
    """A log cannot be read, or does not belong where it was put."""


class ForeignError(RunError):
    """A log is whole, but of tasks that are not ours."""


@dataclass(frozen=True)
class Row:
    """The answers of one case.

    Attributes:
        unread: (reason, excerpt) of each unreadable reply, as far as the log holds it.
        case_id, cell, user_id: see `dataset.Case`.
        digest: of the texts that were asked, see `dataset.Case.digest`.
        answers: one entry per epoch.
        acc_sym, p_chosen: see `scoring.score_symmetric` and `scoring.p_chosen`; None unless log-likelihoods were compared.
        rewards: (acc, tie) of `rewards.score_pair`, one entry per epoch, where a reward model scored; then no answers.
    """

    case_id: str
    cell: str
    user_id: str
    digest: str
    answers: tuple[Answers, ...]
    acc_sym: float | None = None
    p_chosen: float | None = None
    rewards: tuple[tuple[float, float], ...] = ()
    unread: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Run:
    """One row of a report.

    Attributes:
        model: as the harness names it.
        harness: its name and version.
        date: when it started or was written, ISO 8601, UTC.
        signature: see `signature.signature`; without what differs from cell to cell.
        conditions: what else shapes a call (chat template, few-shot, generation arguments), as one line.
        cells: cell -> number of cases it has; those that were begun.
        rows: the answered cases by id; None if the logs hold no samples.
        totals: cell -> metric -> value as the harness printed it, where there are no samples.
        counted: cell -> number of answered cases, where there are no samples.
        logs: the files.
        loaded: what lm-eval's command calls the kind of model, and the model argument that names it.
        resumed: Inspect's id of the task, which a retried log shares with the log it goes on from.
        otherwise: number of replies that the installed version of the reader reads otherwise than that of the run.
    """

    model: str
    harness: str
    date: str
    signature: Mapping[str, Any]
    conditions: str
    cells: Mapping[str, int]
    rows: Mapping[str, Row] | None
    totals: Mapping[str, Mapping[str, float]]
    logs: tuple[Path, ...]
    counted: Mapping[str, int] = field(default_factory=dict)
    loaded: tuple[str, str] = ("TYPE", "pretrained")
    resumed: str = ""
    otherwise: int = 0

    def __post_init__(self) -> None:
        for name in ("model", "conditions"):  # here, so that no output has to remember it
            object.__setattr__(self, name, without_password(getattr(self, name)))

    @property
    def answered(self) -> Counter[str]:
        """Cell -> number of answered cases."""
        return Counter(self.counted if self.rows is None else (row.cell for row in self.rows.values()))

    @property
    def partial(self) -> dict[str, tuple[int, int]]:
        """Cells that were begun and not finished: cell -> (answered, cases)."""
        answered = self.answered
        return {cell: (answered[cell], size) for cell, size in self.cells.items() if answered[cell] < size}

    @property
    def unfinished(self) -> str:
        """`partial` in words: `general_hard 60 of 1,010`."""
        return ", ".join(f"{cell} {done:,} of {size:,}" for cell, (done, size) in self.partial.items())

    @property
    def label(self) -> str:
        """How a row is headed: the model, and what a reader must not overlook."""
        remarks = [*self.remarks, *["demonstration"] * bool(self.signature["demonstration"])]
        remarks += ["partial"] * bool(self.partial)
        return f"{self.model} ({', '.join(remarks)})" if remarks else self.model

    @property
    def asked(self) -> dict[str, Any]:
        """The fields of its template, see `prompts.Template`."""
        version = str(self.signature["prompt"]).partition("-")[0]
        if self.signature["method"] == "reward":  # asked no question, so no wording of it
            version = "v1"
        return {**LATER, **self.signature, "prompt": version}

    @property
    def remarks(self) -> list[str]:
        """What differs from the default in the question that was asked, and the method."""
        method = str(self.signature["method"])
        return [*remarks(self.asked), *[method] * (method != "generate")]


LATER: Mapping[str, Any] = {"k": K, "rag_filter": False, "memory": None}
"""What the first signatures did not name, with what held of their runs."""

WHAT_IS_ASKED = ("task_version", "setting", "method", "prompt", "language", "hide", *LATER)
"""The fields of a signature that shape a prompt, or how its reply is read."""

SAME = (*WHAT_IS_ASKED, "source", "counts", "demonstration")
"""What logs must share to stand in one row, beside the model and the conditions."""


def read_runs(paths: Iterable[str | Path]) -> list[Run]:
    """Read the runs that some arguments name, in their order.

    Args:
        paths: each a folder (our logs in it, one run per model; other files are passed over), an Inspect log, a results file of lm-eval, or one of
            its samples files. Samples files of one invocation of lm-eval make one run.

    Raises:
        RunError: a file is no log of ours, is damaged, or logs that would share a row differ in what moves a score.
    """
    named = list(dict.fromkeys(map(Path, paths)))
    runs: list[Run] = []
    for path in named:
        if path.is_dir():
            runs += _of_folder(path)
        elif results_beside(path) not in named:  # `results/MODEL/*` names both: the results file brings its samples
            runs.append(_read(path))
    return _join_leaves(runs)


def read_run(path: str | Path) -> Run:
    """Read the one run that an argument names.

    Raises:
        RunError: as `read_runs`, and where a folder holds the runs of several models.
    """
    runs = read_runs([path])
    if len(runs) > 1:
        models = ", ".join(run.model for run in runs)
        raise RunError(f"{path}: found runs of {len(runs)} models ({models}), expected one. Name the folder of one.")
    return runs[0]


def results_beside(samples: Path) -> Path | None:
    """The results file that lm-eval wrote with a samples file; None if there is none, and for any other file.

    Both end in the same time; `--output_path NAME.json` gives the results file another beginning.
    """
    if samples.suffix != ".jsonl" or not samples.name.startswith("samples_"):
        return None
    stamp = samples.stem.rpartition("_")[2]
    return next((path for path in sorted(samples.parent.glob(f"*_{stamp}.json")) if path.is_file()), None)


def _of_folder(folder: Path) -> list[Run]:
    """One run per model. Samples files are read through the results file beside them."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".eval") and path.is_file())
    found, foreign = [], ""
    for path in files:
        if _kind(path) != "foreign":
            try:
                found.append(_read(path))
            except ForeignError as error:
                foreign = foreign or f" Passed over: {error}"
    if not found:
        raise RunError(
            f"{folder}: found no log of ours in it, expected an .eval file of Inspect or a results_*.json of lm-eval "
            f"(--output_path). Give the folder that the harness wrote to.{foreign}"
        )
    models: dict[str, list[Run]] = {}
    for run in _superseded(found):
        models.setdefault(run.model, []).append(run)
    return [_merge(parts) for parts in models.values()]


def _superseded(runs: list[Run]) -> list[Run]:
    """Without the logs that `inspect eval-retry` or `inspect score` went on from: the later log holds their samples.

    A log that was scored again has the date of its run.
    """
    last: dict[str, Run] = {}
    for run in sorted(runs, key=lambda run: (run.date, run.logs[0].stat().st_mtime_ns)):
        last[run.resumed or str(run.logs[0])] = run
    return list(last.values())


def _join_leaves(runs: list[Run]) -> list[Run]:
    """Runs of the same results file become one: the samples files of one invocation, named one by one."""
    joined: dict[object, list[Run]] = {}
    for run in runs:
        joined.setdefault(run.logs[0] if len(run.logs) == 2 else id(run), []).append(run)
    return [_merge(parts) for parts in joined.values()]


def _merge(parts: Sequence[Run]) -> Run:
    """The parts as one run.

    Raises:
        RunError: they differ in what moves a score, or hold the same case twice.
    """
    first, *others = parts
    merged = first
    for other in others:
        for name, here, there in (
            *((name, first.signature[name], other.signature[name]) for name in SAME),
            ("model", first.model, other.model),
            ("harness", first.harness, other.harness),
            ("conditions", first.conditions, other.conditions),
        ):
            if here != there:
                raise RunError(
                    f"{other.logs[0]} and {first.logs[0]} differ in {name} ({there} and {here}), expected the same in one "
                    "row. Report them as two runs, each named for itself."
                )
        twice = sorted((merged.rows or {}).keys() & (other.rows or {}).keys()) or sorted(
            merged.totals.keys() & other.totals.keys()
        )
        if twice:
            raise RunError(
                f"{other.logs[0]}: {twice[0]} is also in {' or '.join(map(str, merged.logs))} ({len(twice)} in all), expected "
                "each once in a run. Name the log that counts."
            )
        if (merged.rows is None) != (other.rows is None):
            bare = other if other.rows is None else merged
            raise RunError(
                f"{bare.logs[0]}: found no samples in it, expected them as in the logs of the other cells beside it. Run it "
                "again with samples (--log_samples in lm-eval), or report it apart."
            )
        merged = replace(
            merged,
            date=min(merged.date, other.date),
            cells={**merged.cells, **other.cells},
            rows=None if merged.rows is None else {**merged.rows, **(other.rows or {})},
            totals={**merged.totals, **other.totals},
            counted={**merged.counted, **other.counted},
            logs=tuple(dict.fromkeys((*merged.logs, *other.logs))),
            otherwise=merged.otherwise + other.otherwise,
        )
    return merged


def _kind(path: Path) -> str:
    """`inspect`, `lm-eval`, `samples` or `foreign`, from the beginning of the content.

    Raises:
        RunError: the file cannot be read or is empty.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise RunError(f"{path}: could not be read ({error.strerror}). Check the path.") from error
    if not head.strip():
        raise RunError(f"{path}: found an empty file, expected a log. The run may have been stopped before it wrote.")
    if head.startswith(b"PK"):
        return "inspect"
    if not head.lstrip().startswith(b"{"):
        return "foreign"
    if b'"doc_id"' in head[:64]:
        return "samples"
    if b'"eval"' in head and b'"version"' in head[:64]:
        return "inspect"
    return "lm-eval" if b'"results"' in head[:64] else "foreign"


def _read(path: Path) -> Run:
    kind = _kind(path)
    try:
        if kind == "inspect":
            from . import inspect_log

            return inspect_log.read(path)
        if kind in ("lm-eval", "samples"):
            from . import lm_eval_log

            return lm_eval_log.read(path) if kind == "lm-eval" else lm_eval_log.read_leaf(path)
    except UNREADABLE as error:
        if isinstance(error, PersonaFeedbackError):
            raise
        raise RunError(
            f"{path}: found a log that cannot be read ({type(error).__name__}: {cut(' '.join(str(error).split()), 200)}), expected one of Inspect or of "
            "lm-eval 0.4 as the harness wrote it. If a later version of it wrote this log, upgrade personafeedback-tasks."
        ) from error
    raise RunError(
        f"{path}: found no log, expected an Inspect log (.eval, .json), or a results_*.json or samples_*.jsonl of lm-eval."
    )


def signed(metadata: object, path: Path) -> dict[str, Any]:
    """The signature in a log's metadata.

    Raises:
        RunError: there is none, or it is of a later version of this package that we cannot know.
    """
    from ..personafeedback.signature import KEY

    found = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    if found is None:
        raise ForeignError(
            f"{path}: found no signature of personafeedback-tasks, expected a run of its tasks. "
            "Logs of other tasks cannot be reported."
        )
    found = {**LATER, **found} if isinstance(found, dict) else {}
    for name, kind in _TYPES.items():
        value = found.get(name, _ABSENT)
        if not isinstance(value, kind) or (kind is list and not all(isinstance(item, str) for item in value)):
            raise RunError(
                f"{path}: found {text(value)[:60] if name in found else 'no value'} as {name} in its signature, expected what "
                "this version of personafeedback-tasks writes there. Upgrade it, or use the log as the harness wrote it."
            )
    return found


_ABSENT = object()
_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(
        ("package", "task_version", "task", "setting", "method", "prompt", "language", "source", "counts", "data"), str
    ),
    "hide": list, "k": int, "rag_filter": bool, "memory": (str, type(None)), "demonstration": bool, "cells": dict,
}  # fmt: skip
"""What `signature.signature` writes; the value of LATER where it wrote none yet."""


MODEL_ARGUMENTS = (
    *("revision", "subfolder", "peft", "delta", "gguf_file", "dtype", "quantization", "load_in_4bit", "load_in_8bit"),
    *("max_length", "max_model_len", "truncation", "add_bos_token", "prefix_token_id", "softmax_dtype"),
    *("enable_thinking", "think_end_token", "chat_template", "chat_template_args", "chat_template_kwargs"),
)
"""The arguments of a model, in either harness, that make it another model or show it another prompt.

The others say where and how fast it runs; some of them are keys.
"""


def model_conditions(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What of a model's arguments belongs into a signature."""
    return {name: arguments[name] for name in MODEL_ARGUMENTS if arguments.get(name) not in (None, "", False)}


def text(value: object) -> str:
    """A value as one line of a signature."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
