"""Inspect's logs. A sample's output and scores are read, not its events: seconds, not minutes."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from inspect_ai.event import Event
from inspect_ai.log import (
    EvalLog,
    EvalSample,
    read_eval_log,
    resolve_sample_attachments,
    resolve_sample_events_data,
)
from inspect_ai.model import GenerateConfig, ModelOutput
from pydantic_core import from_json

from ..common.records import check_json
from ..core import window
from ..core.benchmark import SETTINGS, Benchmark, find
from ..core.evidence import Reply
from ..core.method import Method, RewardMethod
from ..core.rewards import RewardError
from ..core.stopping import KEY, StopPlan
from ..core.window import PromptCheck
from ..inspect_harness import calls
from ..inspect_harness.evidence import given, said, score_name
from ..inspect_harness.metrics import VALUES
from ..inspect_harness.reward_api import API
from . import fields, marks
from .log import Log, LoggedDocument, LoggedTask
from .run import NO_SAMPLES, Asked, Run, RunError, signed
from .stopped import plan_in
from .unfinished import perhaps
from .usage import CallsMade
from .wrapping import Wrapping

_SAMPLES = "samples/"


def opened(path: Path) -> list[Log]:
    """One log, finished or not.

    Raises:
        RunError: the log is damaged, of another task, or in a format that this Inspect does not know.
    """
    try:
        if _is_archive(path):
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    if not member.filename.startswith(_SAMPLES):  # `_raw` checks each of these
                        check_json(archive.read(member))
        else:
            check_json(path.read_bytes())
        log = read_eval_log(str(path), header_only=True)
    except Exception as error:  # a zip, its compression, JSON and pydantic each have errors of their own
        raise _damaged(path, error) from error
    signatures = signed(log.eval.metadata, path)
    if log.eval.config.log_samples is False:
        raise RunError(NO_SAMPLES.format(path))
    samples = _Samples(path, log, find(signatures[0]["benchmark"]), signatures[0])
    task = LoggedTask(
        path=path,
        signatures=signatures,
        harness="inspect",
        documents=samples.read,
        completed=samples.completed,
        epochs=log.eval.config.epochs or 1,
        invalidated=log.invalidated,
        stop=_stop(samples),
    )
    return [Log([task], partial(_run, samples))]


def _run(samples: _Samples) -> Run:
    log, signature = samples.log, samples.signature
    if isinstance(samples.method, RewardMethod):
        signature = {**signature, "place": samples.noted("persona")}
    return Run(
        model=log.eval.model,
        harness=f"inspect-ai {log.eval.packages.get('inspect_ai', 'unknown')}",
        date=log.eval.created,
        signature=signature,
        conditions=_conditions(log, samples.benchmark, samples.noted),
        cells={},
        cases={},
        logs=(samples.path,),
        cache="Inspect's" if _is_cached(log) else "",
        resumed=log.eval.task_id,
        status=log.status,
        prompts=_prompts(samples),
        elsewhere=samples.spent.elsewhere(),
    )


def _prompts(samples: _Samples) -> PromptCheck:
    # where the run knew nothing before the first call, the server's own token counts tell
    known = window.logged(samples.log.eval.metadata or {})
    return known if known.cut is not None else window.counted(samples.sizes)


def _stop(samples: _Samples) -> StopPlan | None:
    spec = samples.log.eval
    if KEY not in (spec.metadata or {}):
        return None
    return plan_in(samples.path, (spec.metadata or {})[KEY], [str(name) for name in spec.dataset.sample_ids or ()])


def _damaged(path: Path, error: Exception) -> RunError:
    first = str(error).strip().partition("\n")[0][:200] or type(error).__name__
    return RunError(
        f"{path}: found a log that this Inspect cannot read ({first}), expected a complete one. "
        f"{perhaps('inspect')} Of a log that was cut off, `inspect log recover` may restore the samples; if a "
        "newer Inspect wrote it, upgrade inspect-ai."
    )


def _is_archive(path: Path) -> bool:
    # by its name, as Inspect decides it
    return path.suffix == ".eval"


def _raw(path: Path) -> Iterator[dict[str, Any]]:
    # Inspect's own reader makes objects of all events, which takes minutes
    try:
        if not _is_archive(path):
            yield from json.loads(path.read_bytes()).get("samples") or ()
            return
        with zipfile.ZipFile(path) as archive:
            # By their names: they lie there in the order in which they ended, and sums in another order differ in the last bit.
            for member in sorted(archive.infolist(), key=lambda member: member.filename):
                if member.filename.startswith(_SAMPLES):
                    yield _parsed(archive.read(member))
    except Exception as error:  # as above
        raise _damaged(path, error) from error


def _parsed(raw: bytes) -> dict[str, Any]:
    # Inspect's parser is faster, but refuses a lone surrogate, which a cut-off reply may end with
    check_json(raw)
    sample: dict[str, Any]
    try:
        sample = from_json(raw, cache_strings="none")
    except ValueError:
        sample = json.loads(raw)
    return sample


@dataclass
class _Samples:
    path: Path
    log: EvalLog
    benchmark: Benchmark
    signature: dict[str, Any]
    notes: list[dict[str, Any]] = field(default_factory=list)  # metadata of our scores
    sizes: list[Any] = field(default_factory=list)  # of the prompts, for `core.window.counted`

    @cached_property
    def spent(self) -> CallsMade:
        return CallsMade(self.log.stats)

    @property
    def method(self) -> Method:
        return self.benchmark.methods[self.signature["method"]]

    @cached_property
    def system(self) -> str:
        return self.log.eval.model_generate_config.merge(self.log.plan.config).system_message or ""

    @property
    def completed(self) -> int:
        return self.log.results.completed_samples if self.log.status == "success" and self.log.results else 0

    @property
    def scorer(self) -> str:
        return score_name(self.benchmark, self.method)

    def noted(self, name: str) -> str | list[str]:
        # What the scorer noted of a reward model: `persona`, its place; `dtype`; `revision`. All values where a run was
        # resumed on another machine or after a branch moved, nothing before the first score.
        found = sorted({str(note[name]) for note in self.notes if name in note})
        return found if len(found) > 1 else "".join(found)

    def read(self) -> Iterator[LoggedDocument]:
        scored = marked = False
        for raw in _raw(self.path):
            scores, where = raw.get("scores") or {}, f"sample {raw['id']}"
            score, mark = scores.get(self.scorer), marks.mark_of(raw, self.scorer)
            marked = marked or bool(mark and scores)
            if mark and not (isinstance(score, dict) and isinstance(score["value"], dict)):
                yield LoggedDocument(where=where, id=raw["id"], document=None, mark=mark)
                continue
            if not scores:
                continue
            if not isinstance(score, dict) or not isinstance(score["value"], dict):
                raise RunError(
                    f"{self.path}, {where}: found no answers from our scorer, expected one per call. Score the log again: "
                    f"inspect score {self.path} --scorer personafeedback_tasks/{self.scorer}"
                )
            scored = True
            yield self._document(raw, score["value"], score.get("metadata") or {}, mark)
        if self.completed and not scored and not marked:
            raise RunError(
                f"{self.path}: found no scores, expected those of the {self.completed:,} samples that the log counts. If it was not "
                f"scored, run `inspect score` (--scorer personafeedback_tasks/{self.scorer}); if a newer Inspect wrote it, upgrade "
                "personafeedback-tasks."
            )

    def _document(self, raw: dict[str, Any], value: dict[str, Any], noted: dict[str, Any], mark: str) -> LoggedDocument:
        path, method, where = self.path, self.method, f"sample {raw['id']}"
        logged = {**raw["metadata"], "id": raw["id"], "targets": list(raw["target"])}
        document = self.benchmark.scorable(method, logged, self.benchmark.setting(self.signature))
        asked = method.asked(document.settings)
        self.notes.append(noted)
        self.sizes += (raw["output"].get("metadata") or {}).get(window.KEY, ())
        replies = calls.replies(ModelOutput.model_validate(raw["output"]), partial(_events, raw), asked)
        labels = not isinstance(method, RewardMethod)
        try:
            evidence = given(method, replies, raw["id"], self.log.eval.model)
        except RewardError as error:
            raise RunError(f"{path}: {error}") from error
        return LoggedDocument(
            where=where,
            id=raw["id"],
            document=document,
            evidence=evidence,
            answers=method.of_each(noted["answers"]) if labels else None,
            values=[value] if method.several is None else noted.get(VALUES) or (),
            epoch=raw["epoch"],
            usage=self.spent.of_sample(raw, asked, len(document.settings)),
            mark=mark,
            asked=partial(self._asked, raw),
        )

    def _asked(self, raw: dict[str, Any]) -> Asked:
        # from the events as logged: objects of all of them would take minutes
        made: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {}
        for event in raw.get("events") or ():
            if event.get("event") == "model":
                sent = _sent(raw, event)  # at least one message
                made[str((sent[-1].get("metadata") or {}).get("call"))] = event, sent
        stage = self.benchmark.stage.name if self.benchmark.stage else ""
        asked = [name for name in (stage, *self.method.asked(raw["metadata"].get(SETTINGS) or [""])) if name in made]
        calls = []
        for event, sent in map(made.__getitem__, asked):
            tools = [("tools", str(event["tools"]))] if event.get("tools") else []
            calls.append((*((message["role"], _content(raw, message)) for message in sent), *tools))
        reply = self._stage_reply(raw) if stage in made else None
        return Asked(f"sample {raw['id']}", raw["id"], calls, Wrapping(self.system, ""), reply.text if reply else None)

    def _stage_reply(self, raw: dict[str, Any]) -> Reply | None:
        stage = self.benchmark.stage
        of_stage = [call for call, about in calls.made(_events(raw)) if stage and about.get("call") == stage.name]
        return said(calls.choice(of_stage[-1].output)) if of_stage else None


def _sent(raw: dict[str, Any], event: dict[str, Any]) -> list[dict[str, Any]]:
    # a condensed log has the messages once per sample, for all calls
    pool = (raw.get("events_data") or {}).get("messages") or ()
    return event["input"] or [one for start, end in event.get("input_refs") or () for one in pool[start:end]]


def _content(raw: dict[str, Any], message: dict[str, Any]) -> str:
    # a message may have parts; a long text is an attachment of its sample
    content, attached = message["content"], raw.get("attachments") or {}
    texts = [content] if isinstance(content, str) else [part.get("text", str(part)) for part in content]
    return "".join(attached.get(text.removeprefix("attachment://"), text) for text in texts)


def _events(raw: dict[str, Any]) -> list[Event]:
    of_models = [event for event in raw.get("events") or () if event.get("event") == "model"]
    parts = {name: raw.get(name) for name in ("id", "epoch", "input", "target", "attachments", "events_data")}
    sample = EvalSample.model_validate({**parts, "events": of_models}, context={"deserializing": True})
    return resolve_sample_attachments(resolve_sample_events_data(sample), "full").events


def _conditions(log: EvalLog, benchmark: Benchmark, noted: Callable[[str], str | list[str]]) -> dict[str, Any]:
    spec = log.eval
    found = generation([spec.model_generate_config, log.plan.config], spec.model_args)  # in Inspect's order
    if spec.model.startswith(f"{API}/"):
        found |= {
            name: ",".join(value) for name, value in found.items() if name == "aspects" and isinstance(value, list)
        }
        found |= {"dtype": noted("dtype") or spec.model_args.get("dtype", "auto")}
        if commit := noted("revision"):
            found["revision"] = commit
    options = {name: value for name, value in spec.task_args.items() if name not in benchmark.options.names()}
    for schema, record in (("EvalSpec", vars(spec)), ("EvalConfig", vars(spec.config))):
        found |= fields.conditions(f"inspect {schema}", record)
    found |= fields.conditions("metadata", spec.metadata or {}) | fields.conditions("task_args", options)
    return dict(sorted(found.items()))


def _is_cached(log: EvalLog) -> bool:
    configs = [log.plan.config, log.eval.model_generate_config]
    return any(
        vars(config).get(name) for config in configs for name in fields.named("inspect GenerateConfig", fields.REASON)
    )


def generation(configs: Sequence[GenerateConfig], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The conditions of a run's calls; a later config overrides an earlier one."""
    given: dict[str, Any] = {}
    for config in configs:
        given |= config.model_dump(exclude_none=True)
    return fields.conditions("inspect GenerateConfig", given) | fields.conditions("model_args", arguments)
