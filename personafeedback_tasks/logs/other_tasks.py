"""Logs of tasks that are not ours, asked with and without a message about a user -> the value of each sample."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..common.errors import PersonaFeedbackError, did_you_mean
from ..common.records import lenient, short
from ..core.system import setting_of
from ..parsing.answers import without_thinking
from ..stats.estimates import mean
from .errors import ForeignError, RunError
from .lm_eval_log import model_of, results_beside, samples_beside

NO_PERSONA = "no_persona"
MEANS = ("accuracy", "mean")
"""Inspect's metrics that are the mean of the samples' values."""


@dataclass(frozen=True, kw_only=True)
class SampleResult:
    """A sample, its epochs averaged.

    Attributes:
        asked: its own messages, without the one about a user.
        replies: of each epoch, without their thinking.
        user: whose sample it is; empty where nothing was told.
    """

    id: str
    value: float
    asked: str
    target: str
    replies: tuple[str, ...]
    user: str = ""


@dataclass(frozen=True, kw_only=True)
class TaskRun:
    """A run of another task.

    Attributes:
        setting: what its messages are about, one of `personafeedback.system.SETTINGS`.
        told: whose message it is, where all samples have the same one: the user's id, in lm-eval the first digits of
            the text's SHA-256; else empty.
        value: name of the number that counts, of those that the task reports.
        conditions: what runs that are compared must share.
        missed: (calls of the main model without their message, all its calls).
    """

    task: str
    model: str
    setting: str
    told: str
    value: str
    conditions: Mapping[str, str]
    samples: Mapping[str, SampleResult]
    missed: tuple[int, int]
    path: Path
    program: str
    higher_is_better: bool = True


def read_tasks(paths: Sequence[Path], values: Sequence[str], say: Callable[[str], object]) -> list[TaskRun]:
    """The runs in logs and folders. Of a run that was tried again, the last log counts.

    Args:
        values: the numbers that count, where a task reports several.
        say: gets a line on logs of a folder that are skipped.

    Raises:
        RunError: a log that is named itself cannot be used, or a folder has none.
    """
    runs: list[TaskRun] = []
    for path in paths:
        if not path.is_dir():
            runs += _read(path, values)
            continue
        found: list[TaskRun] = []
        skipped: list[RunError] = []
        foreign: list[str] = []
        for file in sorted([*path.rglob("*.eval"), *path.rglob("results*.json")]):
            try:
                found += _read(file, values)
            except RunError as error:
                skipped.append(error)
                if isinstance(error, ForeignError):
                    foreign.append(file.name)
                else:
                    say(f"Skipped {error}")
        if not found:
            hint = skipped[0] if skipped else "Make them: inspect eval personafeedback_tasks/with_user -T task=TASK"
            raise RunError(f"{path}: found no run of with_user in it. {hint}")
        if foreign:
            more = f" and {len(foreign) - 3:,} more" if len(foreign) > 3 else ""
            say(f"Skipped logs of other runs: {', '.join(foreign[:3])}{more}")
        runs += found
    known = {run.value for run in runs}
    for value in values:
        if value not in known:
            raise RunError(
                f"--value {value}: found no run with a number of this name, expected one of {', '.join(sorted(known))}."
                f"{did_you_mean(value, known)}"
            )
    return runs


def _read(path: Path, values: Sequence[str]) -> list[TaskRun]:
    try:
        if path.suffix == ".eval":
            return [_inspect(path, values)]
        results = results_beside(path) or path
        document = lenient(results.read_bytes())
        return [_inspect(path, values)] if "eval" in document else _lm_eval(results, document, values)
    except PersonaFeedbackError:
        raise
    except Exception as error:  # a zip, its compression, JSON and pydantic each have errors of their own
        raise RunError(
            f"{path}: found no complete log of a run ({type(error).__name__}: {short(str(error))}), expected one."
        ) from error


def chosen(path: Path, found: Sequence[str], named: Sequence[str]) -> str:
    """The number that counts. Raises RunError if there are several and none of them is named."""
    wanted = found if len(found) == 1 else [name for name in found if name in named]
    if len(wanted) != 1:
        advice = f"Pass --value with one of {', '.join(found)}." if found else "Use a log whose samples have scores."
        raise RunError(f"{path}: found {len(found)} numbers in its scores, expected one. {advice}")
    return wanted[0]


def refuse_other_mean(path: Path, value: str, found: float, reported: Mapping[str, float]) -> None:
    """Raise RunError unless the mean of the samples' values is the logged one, so that their change is one of its
    score."""
    if not any(math.isclose(found, one, rel_tol=1e-9, abs_tol=1e-9) for one in reported.values()):
        means = ", ".join(f"{name} {one:.6g}" for name, one in reported.items()) or "no accuracy or mean"
        raise RunError(
            f"{path}: found {means} of {value} in its results, expected {found:.6g}, the mean over its samples. The "
            "task's metric is no mean, turns values into numbers in its own way, or does not average epochs."
        )


# --- Inspect ----------------------------------------------------------------------------------------------------------


def _inspect(path: Path, values: Sequence[str]) -> TaskRun:
    from inspect_ai.log import read_eval_log

    from ..inspect_harness.with_user import KEY, calls_without
    from .inspect_log import generation

    log = read_eval_log(str(path), resolve_attachments=True)
    about = (log.eval.metadata or {}).get(KEY)
    if not isinstance(about, dict):
        raise ForeignError(f"{path}: found a run of {log.eval.task}, expected one of personafeedback_tasks/with_user.")
    if log.status != "success" or not log.samples or log.results is None:
        raise RunError(
            f"{path}: found a run with status {log.status}, expected a finished one. `inspect eval-retry {path}` "
            "finishes it."
        )
    if log.invalidated:
        raise RunError(
            f"{path}: found samples that were invalidated, expected none. `inspect eval-retry {path}` asks them again."
        )
    of_sample: dict[str, list[Any]] = {}
    for sample in log.samples:
        if sample.scores:
            of_sample.setdefault(str(sample.id), []).append(sample)
    keys = dict.fromkeys(name for epochs in of_sample.values() for one in epochs for name in _numbers(one.scores))
    counts = chosen(path, list(keys), values)
    samples = {name: _sample(epochs, counts, KEY) for name, epochs in of_sample.items()}
    reported: dict[str, float] = {}
    for score in log.results.scores:
        if score.name == counts:
            reported |= {name: float(metric.value) for name, metric in score.metrics.items() if name in MEANS}
    refuse_other_mean(path, counts, mean(sample.value for sample in samples.values()), reported)
    missed = [calls_without(sample, log.eval.model) for sample in log.samples]
    arguments = {name: of for name, of in log.eval.task_args.items() if name not in ("setting", "user", "data", "task")}
    return TaskRun(
        task=about["name"],
        model=log.eval.model,
        setting=about["setting"],
        told=next(iter(samples.values())).user if log.eval.task_args.get("user") is not None else "",
        value=counts,
        conditions={
            "task": about["task"],
            "options of the task": _text(arguments),
            "conditions": _text(generation([log.eval.model_generate_config, log.plan.config], log.eval.model_args)),
            "epochs": str(log.eval.config.epochs or 1),
        },
        samples=samples,
        missed=(sum(one for one, _ in missed), sum(every for _, every in missed)),
        path=path,
        program="Inspect",
    )


def _numbers(scores: Mapping[str, Any]) -> dict[str, Any]:
    # Inspect reports each key of a dict of scores under its own name
    found: dict[str, Any] = {}
    for name, score in scores.items():
        found |= score.value if isinstance(score.value, dict) else {name: score.value}
    return found


def _sample(epochs: Sequence[Any], counts: str, key: str) -> SampleResult:
    from inspect_ai.scorer import value_to_float

    first, as_float = epochs[0], value_to_float()
    values = [_numbers(sample.scores).get(counts) for sample in epochs]
    own, user = first.input, ""
    if isinstance(own, list):
        if own and key in (own[0].metadata or {}):
            user = str(own[0].metadata[key])
            own = own[1:]
        # a task's text is a message of its user once there is a list
        own = "\n\n".join(message.text if len(own) == 1 else f"{message.role}: {message.text}" for message in own)
    return SampleResult(
        id=str(first.id),
        value=mean(as_float(one) if isinstance(one, (str, int, float)) else math.nan for one in values),
        asked=own,
        target=_text(first.target),
        replies=tuple(without_thinking(sample.output.completion) for sample in epochs),
        user=user,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


# --- lm-eval ----------------------------------------------------------------------------------------------------------


def _lm_eval(path: Path, results: dict[str, Any], values: Sequence[str]) -> list[TaskRun]:
    instruction = results.get("system_instruction") or ""
    setting = setting_of(instruction) if instruction else NO_PERSONA
    if not setting:
        raise RunError(
            f"{path}: found the system instruction {short(instruction)}, expected one that `personafeedback persona` "
            "printed, or none."
        )
    shown = [instruction, *(json.dumps(instruction, ensure_ascii=ascii)[1:-1] for ascii in (True, False))]
    config, runs = results["config"], []
    for task, of_task in results["configs"].items():
        file = samples_beside(path, task)
        if not file.is_file():
            raise RunError(
                f"{path}: found no {file.name} beside it, expected the samples of its task. Run with --log_samples."
            )
        rows = [lenient(line) for line in file.read_bytes().splitlines() if line.strip()]
        numbers = dict.fromkeys(f"{name},{row['filter']}" for row in rows for name in row["metrics"])
        value = chosen(path, list(numbers), values)
        metric, _, of_filter = value.partition(",")
        samples, missed, calls = {}, 0, 0
        for row in rows:
            if row["filter"] != of_filter:
                continue
            samples[f"{row['doc_id']} {row['doc_hash']}"] = SampleResult(
                id=str(row["doc_id"]),
                value=float(row[metric]),
                asked=_text(row["doc"]),
                target=_text(row["target"]),
                replies=(without_thinking(_text(row["filtered_resps"][0] if row["filtered_resps"] else "")),),
            )
            for request in row["arguments"].values() if instruction else ():
                sent = _text(request["arg_0"])
                missed += not any(text in sent for text in shown)
                calls += 1
        scores = results["results"][task]
        reported = {"mean": float(scores[value])} if value in scores else {}
        better = bool((results.get("higher_is_better") or {}).get(task, {}).get(metric, True))
        refuse_other_mean(path, value, mean(sample.value for sample in samples.values()), reported)
        run = TaskRun(
            task=task,
            model=model_of(results),
            setting=setting,
            told=str(results.get("system_instruction_sha") or "")[:8],
            value=value,
            conditions={
                "model options": _text(config.get("model_args")),
                "generation": _text(config.get("gen_kwargs")),
                "chat template": str(results.get("chat_template_sha")),
                "task": str(of_task.get("doc_to_text")),
                "description": str(of_task.get("description")),
                "generation of the task": _text(of_task.get("generation_kwargs")),
                "few shots": str(results.get("n-shot", {}).get(task)),
                "higher is better": str(better),
            },
            samples=samples,
            missed=(missed, calls),
            path=path,
            program="lm-eval",
            higher_is_better=better,
        )
        runs.append(run)
    return runs
