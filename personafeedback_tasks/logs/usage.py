"""Calls and tokens in a log of Inspect, from the events of its samples: by setting, and for samples without a score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.log import EvalStats

from ..core.documents import of_settings
from ..core.usage import NONE, Usage, total


class CallsMade:
    """Usage of the calls of a log."""

    def __init__(self, stats: EvalStats) -> None:
        self._stats = stats  # Inspect's own sums over the run and the logs that it continues
        self._of_samples = NONE

    def of_sample(self, raw: Mapping[str, Any], asked: Sequence[str], settings: int) -> list[Usage]:
        """A sample's usage under each setting. A reply from a cache costs nothing."""
        place = {name: place for place, names in enumerate(of_settings(asked, settings)) for name in names}
        found = [NONE] * settings
        for event in raw.get("events") or ():
            if event.get("event") != "model" or event.get("error") or event.get("cache") == "read":
                continue
            usage = _usage(event["output"].get("usage"))
            self._of_samples += usage
            found[place.get(_call(raw, event), 0)] += usage
        return found

    def elsewhere(self) -> Usage:
        """Usage of samples that are not scored; call it after the last sample."""
        every = total(_usage(usage.model_dump()) for usage in self._stats.model_usage.values())
        _, *tokens = (max(0, of_all - own) for of_all, own in zip(every.each, self._of_samples.each, strict=True))
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


def _call(raw: Mapping[str, Any], event: Mapping[str, Any]) -> str:
    # the last message has the name of the call; a condensed log has the messages of a sample in one list
    messages, refs = event.get("input") or (), event.get("input_refs") or ()
    if refs:
        last = refs[-1][1]
        messages = ((raw.get("events_data") or {}).get("messages") or ())[last - 1 : last]
    about = (messages[-1].get("metadata") or {}) if messages else {}
    return str(about.get("call", ""))
