"""Results and samples files of lm-evaluation-harness -> a run. Needs no lm-eval."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..common.statistics import clustered_stderr, mean
from ..personafeedback import scoring
from ..replies.answers import LETTERS, excerpt, read_last_line, read_reply
from . import checks as log_checks
from .checks import LoggedCase
from .run import (
    UNREADABLE,
    WHAT_IS_ASKED,
    ForeignError,
    Row,
    Run,
    RunError,
    model_conditions,
    results_beside,
    signed,
    text,
)

_TASK = "personafeedback"


def read(path: Path) -> Run:
    """Read a results file, with the samples files beside it where `--log_samples` wrote them.

    Raises:
        RunError: a file is damaged, or holds other tasks than ours alone.
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
            f"{path}: found no results_*.json of the same time beside it, expected the results file of the same run, which "
            "names the model, the setting and the prompt. Keep both together, under their own names."
        )
    return _run(results, path)


def _run(path: Path, only: Path | None) -> Run:
    results = _load(path)
    stamp = path.stem.rpartition("_")[2]
    leaves = {task: config for task, config in results["configs"].items() if task.startswith(_TASK)}
    if not leaves:
        raise ForeignError(
            f"{path}: found the tasks {', '.join(results['configs']) or 'none'}, expected {_TASK}_... tasks."
        )
    samples = {task: path.with_name(f"samples_{task}_{stamp}.jsonl") for task in leaves}
    if only is not None:
        leaves = {task: config for task, config in leaves.items() if samples[task] == only}
    signatures = [signed(config.get("metadata"), path) for config in leaves.values()]
    if not signatures:
        raise RunError(f"{only}: {path.name} beside it knows no such task. Keep the files of one run together.")
    _refuse_mixture(path, signatures)
    cells = {cell: count for signature in signatures for cell, count in log_checks.cells_of(path, signature).items()}
    logged = {task: file for task, file in samples.items() if task in leaves and file.is_file()}
    rows: dict[str, Row] | None = None
    otherwise = 0
    if logged:
        rows = {}
        for task, signature in zip(leaves, signatures, strict=True):
            if task not in logged:
                raise RunError(
                    f"{path}: found no {samples[task].name} beside it, but those of other cells. Restore it."
                )
            found = list(_samples(logged[task], signature["method"]))
            of_task, differing = log_checks.rows_of(logged[task], found, signature)
            _refuse_other_table(path, results, task, found)
            if twice := rows.keys() & of_task.keys():
                raise RunError(
                    f"{logged[task]}: found {min(twice)} ({len(twice):,} in all), which another cell's samples hold too, expected each "
                    "case in one cell. Use the files as lm-eval wrote them."
                )
            rows |= of_task
            otherwise += differing
    arguments = _arguments(results)
    key = next((key for key in _NAMES if key in arguments), "pretrained")
    counted = {} if logged else _counted(results, leaves, signatures)
    return Run(
        model=text(arguments[key])
        if key in arguments
        else str(results.get("model_source") or results.get("model_name")),
        harness=f"lm-eval {results.get('lm_eval_version', 'unknown')}",
        date=datetime.fromtimestamp(float(results["date"]), timezone.utc).isoformat(timespec="seconds"),
        signature=signatures[0],
        conditions=_conditions(results, leaves, arguments),
        cells=cells,
        rows=rows,
        totals={} if logged else _totals(results, leaves, signatures),
        logs=(path, only) if only else (path, *logged.values()),
        counted=counted,
        loaded=(str(results["config"]["model"]), key),
        otherwise=otherwise,
    )


def _load(path: Path) -> dict[str, Any]:
    try:
        results = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise RunError(
            f"{path}: found broken JSON ({error}), expected a results file of lm-eval. It may have been cut off; run again."
        ) from error
    missing = [key for key in ("results", "configs", "date") if key not in results]
    if missing or not isinstance(results["configs"], dict):
        raise RunError(
            f"{path}: found no {' and no '.join(missing) or 'configs'} in it, expected a results file of lm-eval 0.4."
        )
    return results


def _refuse_mixture(path: Path, signatures: list[dict[str, Any]]) -> None:
    """One invocation may ask for `personafeedback_hard` and its `_mc` twin."""
    for name in WHAT_IS_ASKED:
        values = sorted({str(signature[name]) for signature in signatures})
        if len(values) > 1:
            raise RunError(
                f"{path}: found several values of {name} ({', '.join(values)}), expected one in a row. "
                "Name the samples files of one of them."
            )


def _samples(path: Path, method: str) -> Iterator[LoggedCase]:
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield _sample(json.loads(line), f"line {number}", method)
            except (*UNREADABLE, RecursionError) as error:
                raise RunError(
                    f"{path}, line {number}: found a row that cannot be read ({type(error).__name__}: {error}), expected one "
                    "that lm-eval logged for our tasks. It may have been cut off; run again."
                ) from error


def _sample(row: dict[str, Any], where: str, method: str) -> LoggedCase:
    document, further = row["doc"], {}
    unread: tuple[tuple[str, str], ...] = ()
    if method == "mc":
        # Four results: the log-likelihood of A and of B in each order, with "is greedy". Logged as text.
        values = [float(log_likelihood) for ((log_likelihood, _),) in row["resps"]]
        pairs = scoring.letter_pairs(values)
        again = tuple(scoring.read_log_likelihoods(pair) for pair in pairs)
        filtered = scoring.letter_pairs([float(log_likelihood) for log_likelihood, _ in row["filtered_resps"]])
        answers = tuple(scoring.read_log_likelihoods(pair) for pair in filtered)
        further = {"acc_sym": scoring.score_symmetric(pairs), "p_chosen": scoring.p_chosen(pairs)}
    else:
        replies = [str(reply) for reply, *_ in row["resps"]]
        again = tuple(map(read_last_line if method == "cot" else read_reply, replies))
        answers = tuple(row["filtered_resps"])
        unread = tuple((a, excerpt(reply)) for a, reply in zip(answers, replies, strict=True) if a not in LETTERS)
    follow = scoring.as_dict(scoring.score_answers(answers))
    follow |= {"acc_sym": further.pop("acc_sym")} if method == "mc" else {}
    if row["metrics"] == ["bypass"]:  # --predict_only: nothing was scored
        follow, further = {}, {**follow, **further}
    return LoggedCase(
        where, document["id"], f"{document['category']}_{document['difficulty']}", document["user_id"], document["digest"], 1,
        answers, again, row, follow, unread, further,
    )  # fmt: skip


def _refuse_other_table(path: Path, results: dict[str, Any], task: str, samples: Sequence[LoggedCase]) -> None:
    """Raise RunError unless the number of cases and the means in the results file are those of the samples."""
    asked = results["n-samples"][task]["effective"]
    if asked != len(samples):
        raise RunError(
            f"{path}: found {len(samples):,} rows of {task} in its samples file, expected {asked:,}, the number of cases that were "
            "asked. Rows were added or lost after the run: use the files as lm-eval wrote them."
        )
    printed = {key.partition(",")[0]: value for key, value in results["results"][task].items() if "_stderr," not in key}
    if "bypass" in printed:
        return
    ours = {name: mean(sample.follow[name] for sample in samples) for name in samples[0].follow} if samples else {}
    users = [sample.user_id for sample in samples]
    ours["acc_se_user"] = clustered_stderr([sample.follow["acc"] for sample in samples], users)
    log_checks.refuse_other_table(path, task, printed, ours)


_NAMES = ("pretrained", "model", "path", "engine")
"""The model arguments that name the model; lm-eval's own `model_name` is made up where none of them is given."""


def _arguments(results: dict[str, Any]) -> dict[str, Any]:
    arguments = results["config"].get("model_args") or {}
    if isinstance(arguments, str):
        arguments = dict(part.partition("=")[::2] for part in arguments.split(","))
    return dict(arguments)


def _conditions(results: dict[str, Any], leaves: dict[str, dict[str, Any]], arguments: dict[str, Any]) -> str:
    config = next(iter(leaves.values()))
    facts = {
        "chat template": "applied" if results.get("chat_template") else "not applied",
        "few-shot": config.get("num_fewshot") or 0,
        **{name: value for name, value in sorted((config.get("generation_kwargs") or {}).items()) if name != "until"},
        **model_conditions(arguments),
    }
    if results.get("system_instruction"):
        facts["system instruction"] = results["system_instruction"]
    return ", ".join(f"{name}={text(value)}" for name, value in facts.items())


def _counted(
    results: dict[str, Any], leaves: dict[str, dict[str, Any]], signatures: list[dict[str, Any]]
) -> dict[str, int]:
    """Cell -> number of cases that were asked, fewer than it has under `--limit`."""
    return {
        cell: int(results["n-samples"][task]["effective"])
        for task, signature in zip(leaves, signatures, strict=True)
        for cell in signature["cells"]
    }


def _totals(
    results: dict[str, Any], leaves: dict[str, dict[str, Any]], signatures: list[dict[str, Any]]
) -> dict[str, dict[str, float]]:
    """Cell -> metric -> value, from the table that lm-eval printed. A leaf has one cell."""
    totals: dict[str, dict[str, float]] = {}
    for task, signature in zip(leaves, signatures, strict=True):
        (cell,) = signature["cells"]
        values = {
            key.partition(",")[0]: value
            for key, value in results["results"][task].items()
            if "," in key and "_stderr," not in key and isinstance(value, (int, float))
        }
        totals[cell] = {name: value for name, value in values.items() if not math.isnan(value)}
    return totals
