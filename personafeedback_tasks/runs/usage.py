"""What the calls in a log of Inspect took, from the events of its samples: by setting, by role, and what no sample has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inspect_ai.log import EvalStats
from inspect_ai.model import ModelUsage

from ..engine.usage import ELSEWHERE, NONE, Usage, total

_MODEL = ""
"""In place of a role: the model itself."""


class CallsMade:
    """What the calls of a log took."""

    def __init__(self, stats: EvalStats, keeps: bool) -> None:
        """Args:
        stats: Inspect's own sums over the run and the logs that it continues.
        keeps: whether the run keeps replies for itself, see `kept`: then a reply from the cache was paid for by this run, in a
            process that was killed. Else a reply from a cache cost nothing.
        """
        self._stats, self._keeps = stats, keeps
        self._of_samples: dict[str, Usage] = {}

    def of_sample(self, raw: Mapping[str, Any], asked: Sequence[str], settings: int) -> list[Usage]:
        """Of the model itself in a sample, under each setting."""
        place = {name: number * settings // len(asked) for number, name in enumerate(asked)}
        found = [NONE] * settings
        for event in raw.get("events") or ():
            if (
                event.get("event") != "model"
                or event.get("error")
                or (event.get("cache") == "read" and not self._keeps)
            ):
                continue
            usage, role = _usage(event["output"].get("usage")), event.get("role") or _MODEL
            self._of_samples[role] = self._of_samples.get(role, NONE) + usage
            if role == _MODEL:
                found[place.get(_call(raw, event), 0)] += usage
        return found

    def beside(self) -> dict[str, Usage]:
        """What else the run took: the name of a role, or ELSEWHERE -> its calls. To be called after the last sample."""
        roles = {role: _sum([usage]) for role, usage in self._stats.role_usage.items()}
        models = _sum(self._stats.model_usage.values())  # those that play a role are counted in both
        of_model = models + Usage(*(-value for value in total(roles.values()).each))
        found = {role: usage for role, usage in self._of_samples.items() if role != _MODEL}
        for role, usage in {_MODEL: of_model, **roles}.items():
            counted = self._of_samples.get(role, NONE)
            _, *tokens = (max(0, every - own) for every, own in zip(usage.each, counted.each, strict=True))
            rest = Usage(math.nan, *tokens)  # Inspect counts no calls
            if rest.tokens:
                found[f"{role}, {ELSEWHERE}" if role else ELSEWHERE] = rest
        return found


def _sum(usages: Iterable[ModelUsage]) -> Usage:
    return total(_usage(usage.model_dump()) for usage in usages)


def _usage(logged: Mapping[str, Any] | None) -> Usage:
    """Of one call. Inspect's input tokens leave out those of a cache; some providers leave thoughts out of the output tokens."""
    if logged is None:
        return Usage(calls=1)
    cached, written = (logged.get(f"input_tokens_cache_{how}") or 0 for how in ("read", "write"))
    prompt = logged["input_tokens"] + cached + written
    reply = max(logged["output_tokens"], (logged.get("total_tokens") or 0) - prompt)
    return Usage(1, prompt, cached, reply, logged.get("reasoning_tokens") or 0)


def _call(raw: Mapping[str, Any], event: Mapping[str, Any]) -> str:
    """The name of a call, which its last message has. A condensed log has the messages of a sample in one list."""
    messages, refs = event.get("input") or (), event.get("input_refs") or ()
    if refs:
        last = refs[-1][1]
        messages = ((raw.get("events_data") or {}).get("messages") or ())[last - 1 : last]
    about = (messages[-1].get("metadata") or {}) if messages else {}
    return str(about.get("call", ""))
