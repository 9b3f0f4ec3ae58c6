"""Inspect's logs. A sample's output and scores are read, not its events: seconds, not minutes."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from inspect_ai.event import Event
from inspect_ai.log import (
    EvalLog,
    EvalSample,
    EvalScore,
    read_eval_log,
    resolve_sample_attachments,
    resolve_sample_events_data,
)
from inspect_ai.model import ModelOutput
from pydantic_core import from_json

from ..common import limits
from ..engine import window
from ..engine.benchmark import SETTINGS, Benchmark, find
from ..engine.evidence import Reply
from ..engine.method import Method
from ..engine.outcome import Answers
from ..engine.rewards import RewardError
from ..engine.stopping import KEY, StopPlan
from ..engine.window import PromptCheck
from ..inspect_harness import calls
from ..inspect_harness.evidence import given, said, score_name
from ..inspect_harness.metrics import VALUES
from . import marks
from .claims import HarnessRecord
from .inspect_conditions import conditions, grader, is_cached
from .judged import refuse_other_cases, refuse_other_number
from .log import Log, LoggedDocument, LoggedTask, Printed
from .model_arguments import needed
from .run import NO_SAMPLES, Asked, Run, RunError, refused, signed
from .stopped import plan_in
from .unfinished import perhaps
from .usage import CallsMade
from .wrapping import Wrapping

_SAMPLES = "samples/"
"""The beginning of their names in an archive."""


def opened(path: Path) -> list[Log]:
    """One log, finished or not.

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
    signatures = signed(log.eval.metadata, path)
    if log.eval.config.log_samples is False:
        raise RunError(NO_SAMPLES.format(path))
    samples = _Samples(path, log, find(signatures[0]["benchmark"]), signatures[0])
    task = LoggedTask(
        path=path,
        signatures=signatures,
        harness="inspect",
        record=_record(samples),
        documents=samples.read,
        printed=samples.printed,
        completed=log.results.completed_samples if log.status == "success" and log.results else 0,
        epochs=log.eval.config.epochs or 1,
        invalidated=log.invalidated,
        grader=grader(log, samples.benchmark),
        stop=_stop(samples),
    )
    return [Log([task], partial(_run, samples))]


def _run(samples: _Samples) -> Run:
    log, signature = samples.log, samples.signature
    if samples.method.evidence == "rewards":
        signature = {**signature, "place": samples.noted("persona")}
    return Run(
        model=log.eval.model,
        harness=f"inspect-ai {log.eval.packages.get('inspect_ai', 'unknown')}",
        date=log.eval.created,
        signature=signature,
        conditions=conditions(log, samples.benchmark, samples.noted),
        cells={},
        cases={},
        logs=(samples.path,),
        cache="Inspect's" if is_cached(log) else "",
        needed=needed({**log.eval.model_args, "base_url": log.eval.model_base_url}),
        resumed=log.eval.task_id,
        status=log.status,
        prompts=_prompts(samples),
        beside=samples.spent.beside(),
    )


def _prompts(samples: _Samples) -> PromptCheck:
    """What the run knew before the first call; where it knew nothing, what the server's own counts of tokens say."""
    known = window.logged(samples.log.eval.metadata or {})
    return known if known.cut is not None else window.counted(samples.sizes)


def _stop(samples: _Samples) -> StopPlan | None:
    spec = samples.log.eval
    if KEY not in (spec.metadata or {}) and spec.task_args.get("stop") is None:
        return None
    ids = [str(name) for name in spec.dataset.sample_ids or ()]
    return plan_in(samples.path, (spec.metadata or {}).get(KEY), ids, spec.task_args.get("stop"))


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
            # By their names: they lie there in the order in which they ended, and sums in another order differ in the last bit.
            for member in sorted(archive.infolist(), key=lambda member: member.orig_filename):
                if member.orig_filename.startswith(_SAMPLES):
                    yield _parsed(limits.unpack(archive, member))
    except Exception as error:  # as above
        raise _damaged(path, error) from error


def _parsed(raw: bytes) -> dict[str, Any]:
    """One sample. Inspect's parser is faster, but refuses a lone surrogate, which a cut-off reply may end with."""
    sample: dict[str, Any]
    try:
        sample = from_json(raw, cache_strings="none")
    except ValueError:
        sample = json.loads(raw)
    return sample


@dataclass
class _Samples:
    """The samples of a log, and what is noticed while they are read.

    Attributes:
        models: those whose tokens the samples count.
        asked: those that got the prompts that were looked at.
        notes: the metadata of our scores.
        sizes: of the prompts, see `engine.window.counted`.
    """

    path: Path
    log: EvalLog
    benchmark: Benchmark
    signature: dict[str, Any]
    models: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    notes: list[dict[str, Any]] = field(default_factory=list)
    sizes: list[Any] = field(default_factory=list)

    @cached_property
    def spent(self) -> CallsMade:
        """What its calls took."""
        return CallsMade(self.log.stats, keeps=grader(self.log, self.benchmark) is not None)

    @property
    def method(self) -> Method:
        return self.benchmark.methods[self.signature["method"]]

    @cached_property
    def system(self) -> str:
        """The system message that the header names (--system-message)."""
        return self.log.plan.config.merge(self.log.eval.model_generate_config).system_message or ""

    @property
    def scorer(self) -> str:
        """The name of ours."""
        return score_name(self.benchmark, self.method)

    def noted(self, name: str) -> str | list[str]:
        """What a reward model or its machine decides, as the scorer noted it: `persona`, its place; `dtype`; `revision`.

        All values where a run was resumed on another machine or after a branch moved, nothing before the first score.
        """
        found = sorted({str(note[name]) for note in self.notes if name in note})
        return found if len(found) > 1 else "".join(found)

    def read(self) -> Iterator[LoggedDocument]:
        """Every sample that is scored, or marked."""
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
        completed = self.log.results.completed_samples if self._comparable and self.log.results else 0
        if completed and not scored and not marked:
            raise RunError(
                f"{self.path}: found no scores, expected those of the {completed:,} samples that the log counts. If it was not "
                f"scored, run `inspect score` (--scorer personafeedback_tasks/{self.scorer}); if a newer Inspect wrote it, upgrade "
                "personafeedback-tasks."
            )

    @property
    def printed(self) -> Printed | None:
        """The means that Inspect printed; None where they may be others than those over all epochs of every sample."""
        if not self._comparable:
            return None
        return Printed(
            "Inspect's results", {n: metric.value for score in self._scores for n, metric in score.metrics.items()}
        )

    @property
    def _scores(self) -> list[EvalScore]:
        scores = self.log.results.scores if self.log.results else []
        return [score for score in scores if score.scorer == self.scorer]

    @property
    def _comparable(self) -> bool:
        # --epochs-reducer may be something other than a mean over the epochs of a case
        return self.log.status == "success" and all(score.reducer in (None, "mean") for score in self._scores)

    def _document(self, raw: dict[str, Any], value: dict[str, Any], noted: dict[str, Any], mark: str) -> LoggedDocument:
        path, method, where = self.path, self.method, f"sample {raw['id']}"
        logged = {**raw["metadata"], "id": raw["id"], "targets": list(raw["target"])}
        if method.several is not None:
            refuse_other_cases(path, where, logged, len(method.of_each(logged["targets"])))
        document = self.benchmark.scorable(method, logged, self.benchmark.setting(self.signature))
        asked = method.asked(document.settings)
        self.models.update(raw.get("model_usage") or ())
        self.notes.append(noted)
        self.sizes += (raw["output"].get("metadata") or {}).get(window.KEY, ())
        replies = calls.replies(ModelOutput.model_validate(raw["output"]), partial(_events, raw), asked)
        refuse_other_number(path, where, [1] * len(replies), len(asked))
        labels = method.evidence != "rewards"
        expected = len(logged["targets"]) * len(document.settings)
        if labels and (len(noted["answers"]) != expected or expected % len(asked)):
            what = f"the answers {noted['answers']!r}"
            raise refused(f"{path}, {where}", what, "one per call", "Use the log as Inspect wrote it.")
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
            mean=value if method.several is not None else None,
            epoch=raw["epoch"],
            usage=self.spent.of_sample(raw, asked, len(document.settings)),
            mark=mark,
            asked=partial(self._asked, raw),
            votes=self._votes(raw),
            stage_reply=partial(self._stage_reply, raw),
        )

    def _asked(self, raw: dict[str, Any]) -> Asked:
        """How a sample was asked, from its events as they are logged: objects of all of them would take minutes."""
        made: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {}
        for event in raw.get("events") or ():
            if event.get("event") == "model" and event.get("role") is None:
                sent = _sent(raw, event)  # at least one message
                made[str((sent[-1].get("metadata") or {}).get("call"))] = event, sent
        stage = self.benchmark.stage.name if self.benchmark.stage else ""
        asked = [name for name in (stage, *self.method.asked(raw["metadata"].get(SETTINGS) or [""])) if name in made]
        calls = []
        for event, sent in map(made.__getitem__, asked):
            tools = [("tools", str(event["tools"]))] if event.get("tools") else []
            calls.append((*((message["role"], _content(raw, message)) for message in sent), *tools))
            self.asked.add(event["model"])
        reply = self._stage_reply(raw) if stage in made else None
        self._refuse_other_replies(raw, [made[name][0] for name in asked if name != stage])
        return Asked(f"sample {raw['id']}", raw["id"], calls, Wrapping(self.system, ""), reply.text if reply else None)

    def _refuse_other_replies(self, raw: dict[str, Any], events: list[dict[str, Any]]) -> None:
        """Raise RunError unless the output of a sample, which is scored, has the replies of its calls."""
        choices = raw["output"].get("choices") or ()
        for choice, event in zip(choices, events, strict=False) if len(choices) == len(events) else ():
            own = event["output"].get("choices") or []  # of a call without one reply, the output has an empty one
            if len(own) == 1 and _content(raw, own[0]["message"]) != _content(raw, choice["message"]):
                found = f"another reply in its output than in the call of {event['model']}"
                raise refused(f"{self.path}, sample {raw['id']}", found, "the same")

    def _votes(self, raw: dict[str, Any]) -> dict[str, Answers]:
        graded = self.benchmark.graded
        score = raw["scores"].get(f"{self.benchmark.name}_{graded.role}") if graded else None
        noted = (score or {}).get("metadata") or {}
        votes = noted.get("votes") or {}
        return {name: tuple(votes.get(name) or ()) for name in noted.get("compared") or ()}

    def _stage_reply(self, raw: dict[str, Any]) -> Reply | None:
        stage = self.benchmark.stage
        of_stage = [call for call, about in calls.made(_events(raw)) if stage and about.get("call") == stage.name]
        return said(calls.choice(of_stage[-1].output)) if of_stage else None


def _sent(raw: dict[str, Any], event: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a call, which its sample may have once for all calls."""
    pool = (raw.get("events_data") or {}).get("messages") or ()
    return event["input"] or [one for start, end in event.get("input_refs") or () for one in pool[start:end]]


def _content(raw: dict[str, Any], message: dict[str, Any]) -> str:
    """The text of a message, which may have parts; a long one is an attachment of its sample."""
    content, attached = message["content"], raw.get("attachments") or {}
    texts = [content] if isinstance(content, str) else [part.get("text", str(part)) for part in content]
    return "".join(attached.get(text.removeprefix("attachment://"), text) for text in texts)


def _events(raw: dict[str, Any]) -> list[Event]:
    """The calls of models in a sample."""
    of_models = [event for event in raw.get("events") or () if event.get("event") == "model"]
    parts = {name: raw.get(name) for name in ("id", "epoch", "input", "target", "attachments", "events_data")}
    sample = EvalSample.model_validate({**parts, "events": of_models}, context={"deserializing": True})
    return resolve_sample_attachments(resolve_sample_events_data(sample), "full").events


def _record(samples: _Samples) -> HarnessRecord:
    """Inspect's own record of the run, beside its signature."""
    spec, benchmark = samples.log.eval, samples.benchmark
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
    return HarnessRecord(
        task=name if ours else None,
        place="task_args",
        options={**({"method": alone[name]} if name in alone else {}), **spec.task_args} if ours else None,
        fields={("task_version", "task_version of the header"): str(spec.task_version)},
        source=None if spec.dataset.location == "." else spec.dataset.location,
        models=[("its samples", samples.models, {spec.model, *roles}), ("its calls", samples.asked, {spec.model})],
    )
