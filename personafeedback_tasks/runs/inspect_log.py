"""An Inspect log -> a run. Of a sample, its output and its scores are read, not its events: seconds, not minutes."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from inspect_ai.event import Event
from inspect_ai.log import EvalLog, read_eval_log, read_eval_log_sample
from inspect_ai.model import ModelOutput

from ..inspect_harness import tasks as inspect_task
from ..personafeedback import scoring
from ..personafeedback.orders import ORDERS
from ..replies.answers import LETTERS, excerpt, read_last_line, read_reply
from . import checks as log_checks
from .checks import LoggedCase
from .run import Answers, Run, RunError, model_conditions, signed, text

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
    cells = log_checks.cells_of(path, signature)
    found = list(_samples(path, log, signature["method"]))
    notes = [note for _, note in found]
    if signature["method"] == "reward":
        signature = signature | {"place": _of_model(notes, "persona")}
    bare = log.eval.config.log_samples is False
    samples = [] if bare else [sample for sample, _ in found]
    rows, otherwise = log_checks.rows_of(path, samples, signature)
    if log.status == "success" and not bare:
        _refuse_other_table(path, log, signature["method"], samples)
    return Run(
        model=log.eval.model,
        harness=f"inspect-ai {log.eval.packages.get('inspect_ai', 'unknown')}",
        date=log.eval.created,
        signature=signature,
        conditions=_conditions(log, notes),
        cells=cells,
        rows=None if bare else rows,
        totals=_totals(log, cells) if bare else {},
        logs=(path,),
        counted=_counted(log, cells, path) if bare else {},
        resumed=log.eval.task_id,
        otherwise=otherwise,
    )


def _damaged(path: Path, error: Exception) -> RunError:
    first = str(error).strip().partition("\n")[0][:200] or type(error).__name__
    return RunError(
        f"{path}: found a log that this Inspect cannot read ({first}), expected a whole one. "
        "If it was cut off, `inspect log recover` may restore it; if a later Inspect wrote it, upgrade inspect-ai."
    )


def _raw(path: Path) -> Iterator[dict[str, Any]]:
    """The samples as they stand in the log. Inspect's own reader makes objects of every event of theirs, which takes minutes."""
    try:
        if not zipfile.is_zipfile(path):
            yield from json.loads(path.read_bytes()).get("samples") or ()
            return
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.filename.startswith("samples/"):
                    yield json.loads(archive.read(member))
    except Exception as error:  # as above
        raise _damaged(path, error) from error


def _samples(path: Path, log: EvalLog, method: str) -> Iterator[tuple[LoggedCase, dict[str, Any]]]:
    """Every scored sample, and what the scorer noted of it."""
    name = SCORERS.get(method, "personafeedback")
    for raw in _raw(path):
        if not raw.get("scores"):
            continue
        score = raw["scores"].get(name)
        if not isinstance(score, dict) or not isinstance(score["value"], dict):
            raise RunError(
                f"{path}, sample {raw['id']}: found no answers of our scorer, expected one per order. Score the log again: "
                f"inspect score {path} --scorer personafeedback_tasks/{name}"
            )
        yield _sample(path, raw, score, method, log.eval.model), score.get("metadata") or {}


def _sample(path: Path, raw: dict[str, Any], score: dict[str, Any], method: str, model: str) -> LoggedCase:
    def events() -> list[Event]:
        return read_eval_log_sample(str(path), raw["id"], raw["epoch"], resolve_attachments=True).events

    case_id, about, output = raw["id"], raw["metadata"], ModelOutput.model_validate(raw["output"])
    logged = () if method == "reward" else tuple(str(score["answer"]).split(", "))
    if method != "reward" and len(logged) != len(ORDERS):
        raise RunError(
            f"{path}, sample {case_id}: found the answers {score['answer']!r}, expected one per order. Use the log as "
            "Inspect wrote it."
        )
    again, follow, unread = _read_again(method, output, events, logged, case_id, model)
    return LoggedCase(
        f"sample {case_id}", case_id, about["cell"], about["user_id"], about["digest"], raw["epoch"],
        logged, again, score["value"], follow, unread,
    )  # fmt: skip


def _read_again(
    method: str, output: ModelOutput, events: Callable[[], list[Event]], logged: Answers, case_id: str, model: str
) -> tuple[Answers, Mapping[str, float], tuple[tuple[str, str], ...]]:
    """(the answers as the installed version reads them, the values that follow, (answer, excerpt) of the unreadable replies)."""
    if method == "reward":
        from ..inspect_harness import reward as inspect_reward

        return (), inspect_reward.values(inspect_reward.choices(output, events, case_id), case_id), ()
    replies = inspect_task.choices(output, events)
    if method == "logprobs":
        from ..inspect_harness import logprobs as inspect_logprobs

        read = [inspect_logprobs.read_choice(reply, case_id, model) for reply in replies]
        answers = tuple(answer for answer, _ in read)
        return answers, inspect_logprobs.values(answers, [pair for _, pair in read]), ()
    reader = read_last_line if method == "cot" else read_reply
    said = zip(logged, replies, strict=False)
    return (
        tuple(inspect_task.read_choice(reply, reader) for reply in replies),
        scoring.as_dict(scoring.score_answers(logged)),
        tuple((answer, excerpt(reply.message.text)) for answer, reply in said if answer not in LETTERS),
    )


def _refuse_other_table(path: Path, log: EvalLog, method: str, samples: list[LoggedCase]) -> None:
    """Raise RunError unless the means that Inspect printed are those of the samples."""
    name = SCORERS.get(method, "personafeedback")
    scores = [score for score in (log.results.scores if log.results else ()) if score.scorer == name]
    if any(score.reducer not in (None, "mean") for score in scores):
        return  # --epochs-reducer asked for something else than a mean over the epochs of a case
    completed = log.results.completed_samples if log.results else 0
    if completed and not samples:
        raise RunError(
            f"{path}: found no scores, expected those of {completed:,} samples, which the log counts. If it was run without "
            f"them, `inspect score` adds them (--scorer personafeedback_tasks/{name}); if a later Inspect wrote it, upgrade "
            "personafeedback-tasks."
        )
    if not samples:
        return  # every sample failed
    epochs: dict[str, list[LoggedCase]] = {}
    for sample in samples:
        epochs.setdefault(sample.case_id, []).append(sample)
    ours = scoring.table((same[0].cell, same[0].user_id, [one.follow for one in same]) for same in epochs.values())
    printed = {name: metric.value for score in scores for name, metric in score.metrics.items()}
    log_checks.refuse_other_table(path, "Inspect's results", printed, ours)


def _of_model(notes: list[dict[str, Any]], name: str) -> str:
    """What a reward model or its machine decides, as the scorer noted it: `persona`, where it stands; `dtype`; `revision`.

    Both values where a run was resumed on another machine or after a branch moved, nothing before the first score.
    """
    return " and ".join(sorted({str(note[name]) for note in notes if name in note}))


def _conditions(log: EvalLog, notes: list[dict[str, Any]]) -> str:
    """The generation arguments in force, or a reward model's."""
    config: dict[str, Any] = log.plan.config.model_dump(exclude_none=True)
    config |= log.eval.model_generate_config.model_dump(exclude_none=True)
    for name in _NO_CONDITION:
        config.pop(name, None)
    config |= model_conditions(log.eval.model_args)
    if log.eval.model.startswith("personafeedback-reward/"):
        names = ("aspects", "truncate", "trust_remote_code", "unpinned")
        given = {name: value for name, value in log.eval.model_args.items() if name in names}
        config |= {
            name: ",".join(map(str, value)) if isinstance(value, list) else value for name, value in given.items()
        }
        config |= {"dtype": _of_model(notes, "dtype") or log.eval.model_args.get("dtype", "auto")}
        if commit := _of_model(notes, "revision"):
            config["revision"] = commit
    epochs = {"epochs": log.eval.config.epochs} if (log.eval.config.epochs or 1) > 1 else {}
    return ", ".join(f"{name}={text(value)}" for name, value in sorted({**config, **epochs}.items()))


def _counted(log: EvalLog, sizes: dict[str, int], path: Path) -> dict[str, int]:
    """Cell -> number of answered cases, of a log without samples.

    Raises:
        RunError: the run stopped, and which of its cells it did not finish is not in the log.
    """
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
