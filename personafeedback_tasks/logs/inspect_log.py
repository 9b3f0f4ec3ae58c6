"""Inspect's logs. A sample's output and scores are read, not its events: seconds, not minutes."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from inspect_ai.event import Event
from inspect_ai.log import (
    EvalLog,
    EvalSample,
    EvalStats,
    read_eval_log,
    resolve_sample_attachments,
    resolve_sample_events_data,
)
from inspect_ai.model import GenerateConfig, ModelOutput

from ..common.records import check_json, lenient
from ..core import window
from ..core.benchmark import FACTS, find
from ..core.method import RewardMethod, of_settings
from ..core.rewards import RewardError
from ..core.signature import Signature
from ..core.usage import NONE, Usage, total
from ..inspect_harness.calls import choice
from ..inspect_harness.reward_api import API
from ..inspect_harness.scorers import evidence_of, replies, score_name
from ..inspect_harness.scorers import made as made_calls
from ..inspect_harness.with_user import KEY as WITH_USER
from . import fields
from .errors import NO_SAMPLES, ForeignError, RunError, perhaps
from .log import INVALIDATED, Log, Sample, cases_in, cells_of, in_short, signed
from .prompts import Asked, Wrapping
from .run import Run

_SAMPLES, _SUMMARIES = "samples/", ("summaries.json", "_journal/summaries/")


def opened(path: Path, texts: bool) -> list[Log]:
    """One log, finished or not.

    Raises:
        RunError: the log is damaged, of another task, or in a format that this Inspect does not know.
    """
    with open(path, "rb") as file:
        ending = ".eval" if file.read(2) == b"PK" else ".json"
    if path.suffix != ending:
        raise RunError(
            f"{path}: found a log of Inspect in the format {ending}, expected a name that ends so: Inspect reads a log by "
            "its name. Rename the file."
        )
    try:
        if ending == ".eval":
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():  # `_raw` checks the samples; summaries are not read
                    if not name.startswith((_SAMPLES, *_SUMMARIES)):
                        check_json(archive.read(name))
        else:
            check_json(path.read_bytes())
        header = read_eval_log(str(path), header_only=True)
    except Exception as error:  # a zip, its compression, JSON and pydantic each have errors of their own
        raise _damaged(path, error) from error
    if WITH_USER in (header.eval.metadata or {}):
        raise ForeignError(
            f"{path}: found a run of with_user, expected one of the benchmark's tasks. `personafeedback cost` reads it."
        )
    signatures = signed(header.eval.metadata, path)
    if header.eval.config.log_samples is False:
        raise RunError(NO_SAMPLES.format(path))
    reading = _Reading(path, header, signatures)
    samples = in_short(reading.samples(), texts)
    if isinstance(reading.method, RewardMethod):
        signatures = [signature.changed(place=reading.noted("persona")) for signature in signatures]
    # where the run knew nothing before the first call, the server's own token counts tell
    prompts = window.logged(header.eval.metadata or {})
    first = Run(
        model=header.eval.model,
        harness=f"inspect-ai {header.eval.packages.get('inspect_ai', 'unknown')}",
        date=header.eval.created,
        signature=signatures[0],
        conditions=_conditions(reading),
        cells=cells_of(path, signatures[0]),
        results=(),
        logs=(path,),
        cache="Inspect's" if _is_cached(header) else "",
        resumed=header.eval.task_id,
        status=header.status,
        prompts=prompts if prompts.cut is not None else window.counted(reading.sizes),
        elsewhere=_elsewhere(header.stats, samples),
    )
    return [
        Log(
            runs=[first, *(replace(first, signature=other, elsewhere=NONE) for other in signatures[1:])],
            samples=samples,
            completed=reading.completed,
            epochs=header.eval.config.epochs or 1,
            invalidated=header.invalidated,
        )
    ]


def _damaged(path: Path, error: Exception) -> RunError:
    first = str(error).strip().partition("\n")[0][:200] or type(error).__name__
    return RunError(
        f"{path}: found a log that this Inspect cannot read ({first}), expected a complete one. "
        f"{perhaps('inspect')} Of a log that was cut off, `inspect log recover` may restore the samples; if a "
        "newer Inspect wrote it, upgrade inspect-ai."
    )


def _raw(path: Path) -> Iterator[dict[str, Any]]:
    # Inspect's own reader makes objects of all events, which takes minutes
    try:
        if path.suffix != ".eval":
            yield from lenient(path.read_bytes()).get("samples") or ()
            return
        with zipfile.ZipFile(path) as archive:
            # In the order of their names: they lie there in the order in which they ended, which moves the last bit of
            # a sum. A sample that was asked again is there twice under one name, of which the last one counts.
            for name in sorted({*archive.namelist()}):
                if name.startswith(_SAMPLES):
                    yield lenient(archive.read(name))
    except Exception as error:  # as above
        raise _damaged(path, error) from error


class _Reading:
    def __init__(self, path: Path, log: EvalLog, signatures: Sequence[Signature]) -> None:
        self.path, self.log = path, log  # without samples
        self.benchmark = find(signatures[0].benchmark)
        self.method = self.benchmark.methods[signatures[0].method]
        self.scorer = score_name(self.benchmark, self.method)
        # of each setting: its name, those of the method's calls, and that of the call before these, if any
        self.settings = [self.benchmark.setting(signature.options) for signature in signatures]
        self.calls = of_settings(self.method.asked(self.settings), len(self.settings))
        self.firsts = [self.benchmark.first(signature.options) for signature in signatures]
        config = log.eval.model_generate_config.merge(log.plan.config)
        self.wrapping = Wrapping(config.system_message or "", "")
        self.completed = log.results.completed_samples if log.status == "success" and log.results else 0
        self.notes: list[dict[str, Any]] = []  # metadata of our scores
        self.sizes: list[Any] = []  # of the prompts, for `core.window.counted`

    def noted(self, name: str) -> str | list[str]:
        # What the scorer noted of a reward model: `persona`, its place; `dtype`; `revision`. All values where a run was
        # resumed on another machine or after a branch moved, nothing before the first score.
        found = sorted({str(note[name]) for note in self.notes if name in note})
        return found if len(found) > 1 else "".join(found)

    def samples(self) -> Iterator[Sample]:
        scored = marked = False
        for raw in _raw(self.path):
            scores, where = raw.get("scores") or {}, f"{self.path}, sample {raw['id']}"
            score, mark = scores.get(self.scorer), _mark_of(raw, self.scorer)
            marked = marked or bool(mark and scores)
            if mark and not (isinstance(score, dict) and isinstance(score["value"], dict)):
                for setting in self.settings:
                    yield Sample(where=where, id=raw["id"], setting=setting, cases=(), mark=mark)
                continue
            if not scores:
                continue
            if not isinstance(score, dict) or not isinstance(score["value"], dict):
                raise RunError(
                    f"{where}: found no answers from our scorer, expected one per call. Score the log again: "
                    f"inspect score {self.path} --scorer personafeedback_tasks/{self.scorer}"
                )
            scored = True
            yield from self._samples(raw, where, score.get("metadata") or {}, mark)
        if self.completed and not scored and not marked:
            raise RunError(
                f"{self.path}: found no scores, expected those of the {self.completed:,} samples that the log counts. "
                f"If it was not scored, run `inspect score` (--scorer personafeedback_tasks/{self.scorer}); if a newer "
                "Inspect wrote it, upgrade personafeedback-tasks."
            )

    def _samples(self, raw: dict[str, Any], where: str, noted: dict[str, Any], mark: str) -> Iterator[Sample]:
        logged = {**raw["metadata"], "id": raw["id"], "targets": list(raw["target"])}
        cases = cases_in(where, self.benchmark, self.method, self.settings, logged, raw["epoch"])
        self.notes.append(noted)
        self.sizes += (raw["output"].get("metadata") or {}).get(window.KEY, ())
        output = ModelOutput.model_validate(raw["output"])
        answered = replies(output, _events(raw), list(chain(*self.calls)))
        made = _made(raw)
        usage = _usage_of(made, self.calls)
        for place, (setting, names) in enumerate(zip(self.settings, self.calls, strict=True)):
            own = [answered[name] for name in names if name in answered]
            try:
                evidence = evidence_of(self.method, own, raw["id"], self.log.eval.model)
            except RewardError as error:
                raise RunError(f"{self.path}: {error}") from error
            yield Sample(
                where=where,
                id=raw["id"],
                setting=setting,
                cases=cases[place],
                evidence=evidence,
                usage=usage[place],
                mark=mark,
                asked=self._asked(raw, where, (self.firsts[place], *names), made),
            )

    def _asked(self, raw: dict[str, Any], where: str, names: Sequence[str], made: Sequence[_Call]) -> Asked:
        last = {call: (event, sent) for call, event, sent in made}
        sent_calls, first_reply = [], None
        for name in names:
            if name in last:
                event, sent = last[name]
                tools = [("tools", str(event["tools"]))] if event.get("tools") else []
                sent_calls.append((*((message["role"], _content(raw, message)) for message in sent), *tools))
                if name == self.benchmark.first_call:
                    *_, answered = (call for call, about in made_calls(_events(raw)) if about.get("call") == name)
                    first_reply = choice(answered.output).message.text
        return Asked(where, raw["id"], sent_calls, self.wrapping, first_reply, raw["metadata"].get(FACTS))


# name of a call, its event, the messages that it sent
_Call = tuple[str, dict[str, Any], list[dict[str, Any]]]


def _made(raw: dict[str, Any]) -> list[_Call]:
    # From the events as logged: objects of all of them would take minutes. A condensed log has the messages once per
    # sample, for all calls; the last message of a call has its name.
    pool = (raw.get("events_data") or {}).get("messages") or ()
    found = []
    for event in raw.get("events") or ():
        if event.get("event") == "model":
            sent = event["input"] or [one for start, end in event.get("input_refs") or () for one in pool[start:end]]
            found.append((str((sent[-1].get("metadata") or {}).get("call", "")), event, sent))
    return found


def _content(raw: dict[str, Any], message: dict[str, Any]) -> str:
    # a message may have parts; a long text is an attachment of its sample
    content, attached = message["content"], raw.get("attachments") or {}
    texts = [content] if isinstance(content, str) else [part.get("text", str(part)) for part in content]
    return "".join(attached.get(text.removeprefix("attachment://"), text) for text in texts)


def _events(raw: dict[str, Any]) -> Iterator[Event]:
    # a generator: objects of all events take minutes, and few samples need them
    of_models = [event for event in raw.get("events") or () if event.get("event") == "model"]
    parts = {name: raw.get(name) for name in ("id", "epoch", "input", "target", "attachments", "events_data")}
    sample = EvalSample.model_validate({**parts, "events": of_models}, context={"deserializing": True})
    yield from resolve_sample_attachments(resolve_sample_events_data(sample), "full").events


# --- marks ------------------------------------------------------------------------------------------------------------
#
# Inspect 0.3.285 can invalidate samples (`inspect_ai.log.invalidate_samples`), which leaves its table of means as it
# was. Later versions can exclude samples from the metrics, too. Neither says that a sample was answered wrongly: it is
# left out here.

_EXCLUDED = "excluded from metrics"

# A sample that a limit or an error ended counts nevertheless if all its calls were answered before.
_ENDED = ("limit", "error")

# the beginnings of fields that mark a sample or a score: `invalidation`, and others in later versions
_MARK = re.compile("invalid|exclu")


def _mark_of(sample: Mapping[str, Any], scorer: str) -> str:
    """Why a sample does not count; empty if it does, or if nothing is scored yet."""
    # Inspect leaves a score that is nan as a whole out of its metrics.
    score = (sample.get("scores") or {}).get(scorer)
    score = score if isinstance(score, dict) else {}
    value = score.get("value")
    unscored = isinstance(value, float) and math.isnan(value)
    for name in fields.named("inspect EvalSample", fields.REASON):
        if (found := sample.get(name)) and (name not in _ENDED or unscored or (name == "error" and not score)):
            return fields.words(name).format_map(found if isinstance(found, dict) else {})
    later = [name for of in (sample, score) for name, value in of.items() if value and _MARK.match(name)]
    if any(name.startswith("invalid") for name in later):
        return INVALIDATED
    return (unscored and fields.words(str(score.get("reason")))) or (_EXCLUDED if later or unscored else "")


# --- conditions -------------------------------------------------------------------------------------------------------


def _conditions(reading: _Reading) -> dict[str, Any]:
    spec, plan, noted = reading.log.eval, reading.log.plan, reading.noted
    found = generation([spec.model_generate_config, plan.config], spec.model_args)  # in Inspect's order
    if spec.model.startswith(f"{API}/"):
        if isinstance(found.get("aspects"), list):
            found["aspects"] = ",".join(found["aspects"])
        found["dtype"] = noted("dtype") or spec.model_args.get("dtype", "auto")
        if commit := noted("revision"):
            found["revision"] = commit
    own = reading.benchmark.options.table()
    options = {name: value for name, value in spec.task_args.items() if name not in own}
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


# --- usage: calls and tokens, from the events of the samples ----------------------------------------------------------


def _usage_of(made: Sequence[_Call], by_setting: Sequence[Sequence[str]]) -> list[list[Usage]]:
    # a reply from a cache costs nothing; what belongs to no setting's own calls counts for the first one
    found: list[list[Usage]] = [[] for _ in by_setting]
    for call, event, _ in made:
        if not event.get("error") and event.get("cache") != "read":
            place = next((place for place, names in enumerate(by_setting) if call in names), 0)
            found[place].append(_usage(event["output"].get("usage")))
    return found


def _elsewhere(stats: EvalStats, samples: Sequence[Sample]) -> Usage:
    # of samples that are not scored: the rest of Inspect's own sums over the run and the logs that it continues
    every = total(_usage(usage.model_dump()) for usage in stats.model_usage.values())
    scored = total(usage for sample in samples if sample.cases for usage in sample.usage)
    _, *tokens = (max(0, of_all - own) for of_all, own in zip(every, scored, strict=True))
    rest = Usage(math.nan, *tokens)  # Inspect counts no calls
    return rest if rest.tokens else NONE


def _usage(logged: Mapping[str, Any] | None) -> Usage:
    # Inspect's input tokens leave out those of a cache; some providers leave thoughts out of the output tokens
    if logged is None:
        return Usage(calls=1)
    cached, written = (logged.get(f"input_tokens_cache_{how}") or 0 for how in ("read", "write"))
    prompt = logged["input_tokens"] + cached + written
    reply = max(logged["output_tokens"], (logged.get("total_tokens") or 0) - prompt)
    return Usage(1, prompt, cached, reply, logged.get("reasoning_tokens") or 0)
