"""An Inspect log -> a run. It reads a sample's output and scores, not its events: seconds, not minutes."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from inspect_ai.event import Event
from inspect_ai.log import EvalLog, EvalSample, read_eval_log, resolve_sample_attachments, resolve_sample_events_data
from inspect_ai.model import ChatCompletionChoice, ModelOutput

from ..common import limits
from ..engine.benchmark import Benchmark, Method, Stage, benchmarks
from ..engine.judges import Reply
from ..engine.recorded import Key
from ..engine.rewards import RewardError
from ..inspect_harness import calls, reward, scorers
from ..inspect_harness.metrics import VALUES
from ..inspect_harness.reward_api import API
from . import checks, claims, marks
from .asked import Spread
from .checks import LoggedCase
from .claims import Evidence
from .inspect_table import refuse_other_table
from .run import NO_SAMPLES, Asked, Run, RunError, model_conditions, needed, signed
from .unfinished import perhaps

_NO_CONDITION = (
    *("max_retries", "timeout", "attempt_timeout", "max_connections", "adaptive_connections", "batch", "cache"),
    "extra_headers",
)
"""Generation arguments that stay out of a signature: connection settings, and headers, which may hold a key."""


_SAMPLES = "samples/"
"""The beginning of their names in an archive."""


def read(path: Path) -> Run:
    """Read one log, finished or not.

    Raises:
        RunError: the log is damaged, of another task, or in a format that this Inspect does not know.
    """
    marks.refuse_unknown_format(path)
    try:
        if _is_archive(path):
            limits.check_archive(path, apart=_SAMPLES)  # `_raw` checks each of these
        else:
            limits.check_json(limits.read(path))
        log = read_eval_log(str(path), header_only=True)
    except Exception as error:  # a zip, its compression, JSON and pydantic each have errors of their own
        raise _damaged(path, error) from error
    signature = signed(log.eval.metadata, path)
    if log.eval.config.log_samples is False:
        raise RunError(NO_SAMPLES.format(path))
    run = Run(
        model=log.eval.model,
        harness=f"inspect-ai {log.eval.packages.get('inspect_ai', 'unknown')}",
        date=log.eval.created,
        signature=signature,
        conditions={},
        cells={},
        cases={},
        logs=(path,),
        needed=needed({**log.eval.model_args, "base_url": log.eval.model_base_url}),
        resumed=log.eval.task_id,
        status=log.status,
    )
    cells = checks.cells_of(path, signature, run.benchmark)
    spread: Spread[dict[str, Any]] = Spread()
    models: set[str] = set()
    found = list(_samples(path, log, run.benchmark, run.method, spread, models))
    asked = [_asked(raw, run.benchmark, run.method) for raw in spread]
    unchecked = claims.compared(
        path, signature, _evidence(log, run.benchmark, models, {name for _, names in asked for name in names})
    )
    marks.refuse_invalidated(path, log.invalidated, found)
    every, counted = marks.cases(found), marks.cases(one for one in found if not one.mark)
    left_out = marks.left_out(found)
    samples, short = marks.of_all_epochs(path, counted, log.eval.config.epochs or 1)
    notes = [one.noted for one in found]
    if run.method.evidence == "rewards":
        signature = signature | {"place": _of_model(notes, "persona")}
    cases, otherwise = checks.answers_of(path, samples, signature, run.benchmark)
    if log.status == "success":
        refuse_other_table(path, log, run.benchmark, run.method, [every, counted] if left_out else [every])
    conditions = _conditions(log, notes)
    return replace(
        run, signature=signature, conditions=conditions, cells=cells, cases=cases, otherwise=otherwise,
        left_out=left_out | short, asked=tuple(one for one, _ in asked), unchecked=unchecked,
    )  # fmt: skip


def _damaged(path: Path, error: Exception) -> RunError:
    first = str(error).strip().partition("\n")[0][:200] or type(error).__name__
    if isinstance(error, limits.LimitError):
        return RunError(
            f"{path}: found {first}, expected a log as Inspect writes it. Get an intact copy, or run again."
        )
    return RunError(
        f"{path}: found a log that this Inspect cannot read ({first}), expected a complete one. "
        f"{perhaps('inspect')} Of a log that was cut off, `inspect log recover` may restore the samples; if a "
        "newer Inspect wrote it, upgrade inspect-ai."
    )


def _is_archive(path: Path) -> bool:
    """By its name, as Inspect decides it."""
    return path.suffix == ".eval"


def _raw(path: Path) -> Iterator[dict[str, Any]]:
    """The samples as logged. Inspect's own reader makes objects of all their events, which takes minutes."""
    try:
        if not _is_archive(path):
            yield from json.loads(limits.read(path)).get("samples") or ()
            return
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.orig_filename.startswith(_SAMPLES):
                    yield json.loads(limits.unpack(archive, member))
    except Exception as error:  # as above
        raise _damaged(path, error) from error


def _samples(
    path: Path, log: EvalLog, benchmark: Benchmark, method: Method, spread: Spread[dict[str, Any]], models: set[str]
) -> Iterator[marks.Sample]:
    """Every sample that is scored, or marked.

    Args:
        spread: is offered each sample.
        models: gets the names of those whose tokens the samples count.
    """
    name = scorers.name_of(benchmark, method)
    for raw in _raw(path):
        scores = raw.get("scores") or {}
        score, mark = scores.get(name), marks.mark_of(raw, name)
        if mark and not (isinstance(score, dict) and isinstance(score["value"], dict)):
            yield marks.Sample(mark, [], {})
            continue
        if not scores:
            continue
        if not isinstance(score, dict) or not isinstance(score["value"], dict):
            raise RunError(
                f"{path}, sample {raw['id']}: found no answers from our scorer, expected one per call. Score the log again: "
                f"inspect score {path} --scorer personafeedback_tasks/{name}"
            )
        noted = score.get("metadata") or {}
        yield marks.Sample(mark, _sample(path, raw, score["value"], noted, benchmark, method, log.eval.model), noted)
        spread.offer(f"{raw['id']} {raw['epoch']}", raw)
        models.update(raw.get("model_usage") or ())


def _sample(
    path: Path, raw: dict[str, Any], logged: dict[str, Any], noted: dict[str, Any], benchmark: Benchmark, method: Method,
    model: str,
) -> list[LoggedCase]:  # fmt: skip
    """The cases of a sample."""
    name, about, targets = raw["id"], raw["metadata"], list(raw["target"])
    found = calls.replies(ModelOutput.model_validate(raw["output"]), partial(_events, raw), method.calls)
    where, cell, user, tokens = f"sample {name}", about["cell"], about["user_id"], _tokens(raw)
    checks.refuse_other_number(path, where, [1] * len(found), len(method.calls))
    if method.evidence == "rewards":
        try:
            both = reward.both(found, method.calls, name)
            value, rewards = reward.values(both, name), reward.pairs(both)
        except RewardError as error:
            raise RunError(f"{path}: {error}") from error
        one = LoggedCase(
            name, cell, user, about["digest"], raw["epoch"], targets, (), value, (), rewards, tokens,
            where=where, again=(), logged=logged, checked=list(value),
        )  # fmt: skip
        return [one]
    if len(noted["answers"]) != len(targets) or len(targets) % len(method.calls):
        raise RunError(
            f"{path}, {where}: found the answers {noted['answers']!r}, expected one per call. Use the log as Inspect wrote it."
        )
    of_each = method.of_each(targets)
    answers = method.of_each(noted["answers"])
    read = [scorers.reading(benchmark, method, reply, name, model) for reply in found.values()]
    again = method.answers([one.answer for one in read], len(of_each))
    values = scorers.values(benchmark, method, of_each, answers, read, found.values(), about)
    unread: tuple[tuple[str, str], ...] = ()
    if method.read is not None:
        unread = checks.unread_of(benchmark, answers, [_shown(reply) for reply in found.values()])
    of_case = [(name, about["digest"], logged)]
    if method.several is not None:
        _refuse_other_value(path, where, logged, [method.tabled(value, "inspect") for value in values])
        named = checks.cases_of(path, where, {**about, "id": name}, len(of_each))
        logged_values = noted.get(VALUES)
        if not isinstance(logged_values, list) or len(logged_values) != len(named):
            raise RunError(
                f"{path}, {where}: found no values of its {len(named)} cases, expected one mapping for each. Use the log as "
                "Inspect wrote it."
            )
        of_case = [(*case, value) for case, value in zip(named, logged_values, strict=True)]
    return [
        LoggedCase(
            case_id, cell, user, digest, raw["epoch"], target, answer, value, unread, tokens=tokens / len(of_each),
            where=where, again=once_more, logged=scored, checked=list(method.tabled(value, "inspect")),
        )
        for (case_id, digest, scored), target, answer, once_more, value in zip(
            of_case, of_each, answers, again, values, strict=True
        )
    ]  # fmt: skip


def _shown(reply: ChatCompletionChoice) -> str:
    """The text of a reply, for an excerpt; one that has only thinking is not one that the server left out."""
    content = reply.message.content
    thinks = not isinstance(content, str) and any(part.type == "reasoning" for part in content)
    return reply.message.text or ("(thinking only)" if thinks else "")


def _refuse_other_value(path: Path, where: str, logged: dict[str, Any], values: list[dict[str, float]]) -> None:
    """Raise RunError unless the score of a sample is the mean over its cases."""
    for metric, value in scorers.over_cases(values).items():
        if not checks.equal(logged.get(metric), value):
            raise RunError(
                f"{path}, {where}: found {metric} {logged.get(metric)}, expected {value:g}, the mean over its {len(values)} cases. "
                "The log was changed after the run: use it as Inspect wrote it, or run again."
            )


def _events(raw: dict[str, Any]) -> list[Event]:
    """The calls of models in a sample."""
    of_models = [event for event in raw.get("events") or () if event.get("event") == "model"]
    parts = {name: raw.get(name) for name in ("id", "epoch", "input", "target", "attachments", "events_data")}
    sample = EvalSample.model_validate({**parts, "events": of_models}, context={"deserializing": True})
    return resolve_sample_attachments(resolve_sample_events_data(sample), "full").events


def _asked(raw: dict[str, Any], benchmark: Benchmark, method: Method) -> tuple[Asked, list[str]]:
    """The prompts of a sample, and the models that got them."""
    made = {about.get("call"): call for call, about in calls.made(_events(raw)) if call.role is None}
    stage = benchmark.stage.name if benchmark.stage else ""
    order = [name for name in (stage, *method.calls) if name in made]
    texts = []
    for call in (made[name] for name in order):
        own = call.input[1:] if call.config.system_message == call.input[0].text else call.input  # Inspect's own option
        texts.append([message.text for message in own])
    reply = calls.stage_reply(benchmark.stage, list(made.values())) if benchmark.stage else None
    return Asked(f"sample {raw['id']}", raw["id"], texts, reply.text if reply else None), [
        made[name].model for name in order
    ]


def _evidence(log: EvalLog, benchmark: Benchmark, counted: set[str], asked: set[str]) -> Evidence:
    """Inspect's own record of the run, beside its signature.

    Args:
        counted: the models whose tokens the samples count.
        asked: the models that got our prompts.
    """
    spec = log.eval
    name = (spec.task_registry_name or "").rpartition("/")[2]
    alone = {
        benchmark.task(selection, method.suffix): method.name
        for selection in benchmark.selections
        for method in benchmark.methods.values()
        if method.tasks
    }
    ours = name in alone or name in map(benchmark.task, benchmark.selections)
    of_roles = [of_role if isinstance(of_role, list) else [of_role] for of_role in (spec.model_roles or {}).values()]
    roles = {model.model for models in of_roles for model in models}
    return Evidence(
        task=name if ours else None,
        place="task_args",
        options={**({"method": alone[name]} if name in alone else {}), **spec.task_args} if ours else None,
        fields={("task_version", "task_version of the header"): str(spec.task_version)},
        source=None if spec.dataset.location == "." else spec.dataset.location,
        models=[("its samples", counted, {spec.model, *roles}), ("its calls", asked, {spec.model})],
    )


def replies(path: Path, benchmark: Benchmark, method: Method, stage: Stage | None) -> Iterator[tuple[Key, Reply]]:
    """Every reply to a scored sample that counts, in a log that was read before.

    Args:
        stage: the one that the run had, if any. Its replies are among the events.
    """
    for raw in _raw(path):
        if not raw.get("scores") or marks.mark_of(raw, scorers.name_of(benchmark, method)):
            continue
        events = cache(partial(_events, raw))
        found = calls.replies(ModelOutput.model_validate(raw["output"]), events, method.calls)
        replies = {call: calls.said(choice) for call, choice in found.items()}
        if stage is not None and (before := calls.stage_reply(stage, events())):
            replies = {stage.name: before, **replies}
        for call, reply in replies.items():
            yield Key(raw["id"], call, raw["epoch"]), reply


def _tokens(raw: dict[str, Any]) -> float:
    """Those of all calls of the model itself in a sample; nan if the provider counts none.

    A model that plays a role, such as a grader, is counted twice by Inspect: among the models, and by its role.
    """
    models, roles = (
        [one["total_tokens"] for one in (raw.get(name) or {}).values()] for name in ("model_usage", "role_usage")
    )
    return float(sum(models) - sum(roles)) or math.nan


def _of_model(notes: list[dict[str, Any]], name: str) -> str | list[str]:
    """What a reward model or its machine decides, as the scorer noted it: `persona`, its place; `dtype`; `revision`.

    All values where a run was resumed on another machine or after a branch moved, nothing before the first score.
    """
    found = sorted({str(note[name]) for note in notes if name in note})
    return found if len(found) > 1 else "".join(found)


def _conditions(log: EvalLog, notes: list[dict[str, Any]]) -> dict[str, Any]:
    """The generation arguments in force, or a reward model's."""
    config: dict[str, Any] = log.plan.config.model_dump(exclude_none=True)
    config |= log.eval.model_generate_config.model_dump(exclude_none=True)
    for name in _NO_CONDITION:
        config.pop(name, None)
    config |= model_conditions(log.eval.model_args)
    if log.eval.model.partition("/")[0] in benchmarks():  # a judge of ours: which file or folder it answers from
        config |= log.eval.model_args
    if log.eval.model.startswith(f"{API}/"):
        names = ("aspects", "truncate", "trust_remote_code", "unpinned")
        given = {name: value for name, value in log.eval.model_args.items() if name in names}
        config |= {
            name: ",".join(map(str, value)) if isinstance(value, list) else value for name, value in given.items()
        }
        config |= {"dtype": _of_model(notes, "dtype") or log.eval.model_args.get("dtype", "auto")}
        if commit := _of_model(notes, "revision"):
            config["revision"] = commit
    if (log.eval.config.epochs or 1) > 1:
        config["epochs"] = log.eval.config.epochs
    return dict(sorted(config.items()))
