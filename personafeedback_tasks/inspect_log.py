"""An Inspect log -> a run. Only the header and the samples' summaries are read: seconds, not minutes."""

from __future__ import annotations

from .errors import require

require("inspect_ai", extra="inspect")

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSampleSummary, read_eval_log, read_eval_log_sample_summaries
from inspect_ai.scorer import Score

from . import scoring
from .answers import parted
from .orders import ORDERS
from .runs import UNREAD, Row, Run, RunError, model_conditions, signed, text

SCORERS = {
    "cot": "personafeedback_cot",
    "logprobs": "personafeedback_logprobs",
    "reward": "personafeedback_reward",
}
"""Method -> the scorer that reads its replies; `personafeedback` reads those of all others."""


_NO_CONDITION = (
    *("max_retries", "timeout", "attempt_timeout", "max_connections", "adaptive_connections", "batch", "cache"),
    "extra_headers",
)
"""Generation arguments that stay out of a signature: connection settings, and headers, which may hold a key."""


def read(path: Path) -> Run:
    """Read one log, finished or not.

    Raises:
        RunError: the log is damaged, of another task, or of a format that this Inspect does not know.
    """
    try:
        log = read_eval_log(str(path), header_only=True)
    except Exception as error:  # a zip, its compression, JSON and pydantic each have errors of their own
        raise _damaged(path, error) from error
    signature = signed(log.eval.metadata, path)
    try:
        summaries = read_eval_log_sample_summaries(str(path))
    except Exception as error:
        raise _damaged(path, error) from error
    if signature["method"] == "reward":
        signature = signature | {"place": _of_model(summaries, "persona")}
    rows = _rows(path, summaries, SCORERS.get(signature["method"], "personafeedback"))
    bare = log.eval.config.log_samples is False
    return Run(
        model=log.eval.model,
        harness=f"inspect-ai {log.eval.packages.get('inspect_ai', 'unknown')}",
        date=log.eval.created,
        signature=signature,
        conditions=_conditions(log, summaries),
        cells={cell: entry["cases"] for cell, entry in signature["cells"].items()},
        rows=None if bare else rows,
        totals=_totals(log, signature["cells"]) if bare else {},
        logs=(path,),
        counted=_counted(log, signature["cells"], path) if bare else {},
        resumed=log.eval.task_id,
    )


def _damaged(path: Path, error: Exception) -> RunError:
    first = str(error).strip().partition("\n")[0][:200] or type(error).__name__
    return RunError(
        f"{path}: found a log that this Inspect cannot read ({first}), expected a whole one. "
        "If it was cut off, `inspect log recover` may restore it; if a later Inspect wrote it, upgrade inspect-ai."
    )


def _rows(path: Path, summaries: list[EvalSampleSummary], scorer: str) -> dict[str, Row]:
    epochs: dict[str, list[EvalSampleSummary]] = {}
    for summary in sorted(summaries, key=lambda summary: summary.epoch):
        if summary.scores:
            epochs.setdefault(str(summary.id), []).append(summary)
    return {case_id: _row(path, case_id, samples, scorer) for case_id, samples in epochs.items()}


def _row(path: Path, case_id: str, samples: list[EvalSampleSummary], scorer: str) -> Row:
    if scorer == SCORERS["reward"]:
        return _reward_row(path, case_id, samples, scorer)
    answers = []
    scores: list[Score] = []
    for sample in samples:
        score = (sample.scores or {}).get(scorer)
        found = parted(score.answer) if score else ()
        if score is None or len(found) != len(ORDERS):
            raise RunError(
                f"{path}, sample {case_id}: found no answers of our scorer, expected one per order. Score the log again: "
                f"inspect score {path} --scorer personafeedback_tasks/{scorer}"
            )
        answers.append(found)
        scores.append(score)
    about = samples[0].metadata
    return Row(
        case_id, about["cell"], about["user_id"], about["digest"], tuple(answers),
        acc_sym=_mean(scores, "acc_sym"), p_chosen=_mean(scores, "p_chosen"),
        unread=tuple(found for score in scores for found in _unread(score)),
    )  # fmt: skip


def _unread(score: Score) -> list[tuple[str, str]]:
    """(reason, excerpt) of the unreadable replies that a score kept."""
    kept = (score.metadata or {}).get(UNREAD)
    answers = zip(ORDERS, parted(score.answer), strict=True)
    return [(answer, str(kept[order])) for order, answer in answers if order in kept] if isinstance(kept, dict) else []


def _reward_row(path: Path, case_id: str, samples: list[EvalSampleSummary], scorer: str) -> Row:
    found = []
    for sample in samples:
        score = (sample.scores or {}).get(scorer)
        value: Any = score.value if score else None
        if not isinstance(value, dict) or not {"acc", "tie"} <= value.keys():
            raise RunError(
                f"{path}, sample {case_id}: found no rewards of our scorer, expected those of both responses. Score the log "
                f"again: inspect score {path} --scorer personafeedback_tasks/{scorer}"
            )
        found.append((float(value["acc"]), float(value["tie"])))
    about = samples[0].metadata
    return Row(case_id, about["cell"], about["user_id"], about["digest"], (), rewards=tuple(found))


def _of_model(summaries: list[EvalSampleSummary], name: str) -> str:
    """What a reward model or its machine decides, as the scorer noted it: `persona`, where it stands; `dtype`; `revision`.

    Both values where a run was resumed on another machine or after a branch moved, nothing before the first score.
    """
    notes = [score.metadata or {} for summary in summaries for score in (summary.scores or {}).values()]
    return " and ".join(sorted({str(note[name]) for note in notes if name in note}))


def _mean(scores: list[Score], key: str) -> float | None:
    """The mean of one key over the epochs of a case; None where the scorer has no such key."""
    values: list[Any] = [score.value[key] for score in scores if isinstance(score.value, dict) and key in score.value]
    return scoring.mean(values) if values else None


def _conditions(log: EvalLog, summaries: list[EvalSampleSummary]) -> str:
    """The generation arguments in force, or a reward model's."""
    config: dict[str, Any] = log.plan.config.model_dump(exclude_none=True)
    config |= log.eval.model_generate_config.model_dump(exclude_none=True)
    for name in _NO_CONDITION:
        config.pop(name, None)
    config |= model_conditions(log.eval.model_args)
    if log.eval.model.startswith("personafeedback-reward/"):
        names = ("aspects", "truncate", "trust_remote_code", "unpinned")
        config |= {name: value for name, value in log.eval.model_args.items() if name in names}
        config |= {"dtype": _of_model(summaries, "dtype") or log.eval.model_args.get("dtype", "auto")}
        if commit := _of_model(summaries, "revision"):
            config["revision"] = commit
    epochs = {"epochs": log.eval.config.epochs} if (log.eval.config.epochs or 1) > 1 else {}
    return ", ".join(f"{name}={text(value)}" for name, value in sorted({**config, **epochs}.items()))


def _counted(log: EvalLog, cells: dict[str, dict[str, Any]], path: Path) -> dict[str, int]:
    """Cell -> number of answered cases, of a log without samples.

    Raises:
        RunError: the run stopped, and which of its cells it did not finish is not in the log.
    """
    sizes = {cell: entry["cases"] for cell, entry in cells.items()}
    done = log.results.completed_samples // (log.eval.config.epochs or 1) if log.results else 0
    if done == sum(sizes.values()):
        return sizes
    if len(sizes) > 1:
        raise RunError(
            f"{path}: found {done:,} of {sum(sizes.values()):,} cases answered and no samples, so that nobody can tell how "
            "many of each cell. Run again without --no-log-samples."
        )
    return dict.fromkeys(sizes, done)


def _totals(log: EvalLog, cells: Iterable[str]) -> dict[str, dict[str, float]]:
    """Cell -> metric -> value, from the table that Inspect printed; see `inspect_task.measures`."""
    printed = {
        name: metric.value
        for score in (log.results.scores if log.results else ())
        for name, metric in score.metrics.items()
    }
    totals: dict[str, dict[str, float]] = {}
    for cell in cells:
        found = {name.removesuffix(f"_{cell}"): value for name, value in printed.items() if name.endswith(f"_{cell}")}
        if found:
            totals[cell] = found | {"acc_se_user": printed.get(f"acc_{cell}_stderr", math.nan)}
    return totals
