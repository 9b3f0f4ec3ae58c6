"""What a model gave to one call, before anything is read from it. Harnesses, logs and files translate into it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..parsing.answers import PROMPT_CUT
from ..parsing.letter_probabilities import LogLikelihoods as LogLikelihoods
from ..parsing.letter_probabilities import impossible


class Reply(NamedTuple):
    """The text of a reply."""

    text: str
    truncated: bool | None = False  # cut off by a token limit; None where nobody knows, as in lm-eval
    filtered: bool = False  # a filter of the provider withheld it, or its end
    thinking: bool = False  # whether there was some, which is no part of `text`
    prompt_cut: bool = False  # beyond the window, so that `text` is an error message or answers a part of it


class FirstToken(NamedTuple):
    """The beginning of a reply, where a label must be."""

    top: Sequence[tuple[str, float]]  # likeliest tokens (text, nats) in place of the first that is not white space
    truncated: bool = False
    filtered: bool = False
    prompt_cut: bool = False


class Reward(NamedTuple):
    """A reward model's score of one response."""

    reward: float  # any number; the higher, the better
    aspects: Mapping[str, float]  # name -> value of each further output of the model


Evidence = Reply | LogLikelihoods | FirstToken | Reward
"""Of one call. A method reads one kind, see `Method.evidence`."""


_INSIDE = ("text", "content", "parts", "value", "refusal")
"""The keys under which a part of a message has its text or further parts; the first of them counts."""

_THOUGHT = re.compile("think|reason|thought|summary", re.I)
"""In the type of a part, or in the key of one without a type: it is no part of the answer."""

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
"""Half of a character that a server cut in two. lm-eval cannot write it to a file, and would lose every sample."""


def text_in(content: object) -> str:
    """The text of a reply, whatever a harness, server, log or file hands over: a text, or (nested) parts of a message.

    The texts of parts are joined by new lines. A part that is thinking leaves an empty `<think>` element, so that the
    log says that there was some. What has no text, such as null, a number or the call of a tool, is empty.
    """
    if isinstance(content, str):
        return _HALF_A_PAIR.sub("\ufffd", content)
    if isinstance(content, Mapping):
        key = next((key for key in _INSIDE if content.get(key) is not None), None)
        kind = content.get("type") or key or " ".join(map(str, content))
        if content.get("thought") is True or _THOUGHT.search(str(kind)):
            return "<think></think>"
        return text_in(content[key]) if key else ""
    if isinstance(content, (list, tuple)):
        return "\n".join(filter(None, map(text_in, content)))
    return ""


def why_not(given: Reply | FirstToken, reason: str) -> str:
    """Why nothing can be read, in view of how the reply ended: an element of `parsing.answers.REASONS`."""
    if given.prompt_cut:
        return PROMPT_CUT
    return "truncated" if given.truncated else "refusal" if given.filtered else reason


def per_call(values: Sequence[float], labels: Sequence[str]) -> list[LogLikelihoods]:
    """Log-likelihoods of each label, call after call -> those of one call together."""
    width = len(labels)
    if len(values) % width:
        raise ValueError(f"found {len(values)} log-likelihoods, expected {width} per call")
    return [tuple(values[start : start + width]) for start in range(0, len(values), width)]


def likeliest(labels: Sequence[str], values: LogLikelihoods) -> str:
    """The likeliest label. A tie at the top is unreadable, not the first label; so are values that no model gives."""
    if reason := impossible(values):
        return reason
    top = max(values)
    return labels[values.index(top)] if values.count(top) == 1 else "invalid_response_format"
