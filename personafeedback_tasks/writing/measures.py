"""What can be said of a reply without a judge. None of it is quality."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..choice.names import says
from ..choice.terms import overlap_terms
from ..common.text import language_of
from ..engine.evidence import Reply
from ..replies.answers import why_not

WRITTEN = "written"
"""The one label: the reply is a whole text that does what it was asked for."""

SHORT = 400
"""Characters. A longer text may say in passing what it cannot do; a refusal says little else."""

_THINKING = re.compile(r"\A\s*<think(?:ing)?>(.*?)(</think(?:ing)?>|\Z)", re.S | re.I)


def text_of(reply: str) -> str | None:
    """What a user would read: the reply without its thinking and the spaces around it; None if it never stops thinking."""
    thinking = _THINKING.match(reply)
    if thinking is None:
        return reply.strip()
    return reply[thinking.end() :].strip() if thinking[2] else None


def read_written(reply: str, truncated: bool = False) -> str:
    """`written`, or the reason why a reply is not: an element of `replies.answers.REASONS`.

    Args:
        truncated: it was cut off by its token limit.
    """
    text = text_of(reply)
    if text is None or (truncated and text):
        return "truncated"
    if not text:
        return "truncated" if truncated else "no_response"
    return "refusal" if len(text) <= SHORT and why_not(text) == "refusal" else WRITTEN


def measures(answer: str, reply: Reply, facts: Mapping[str, Any]) -> dict[str, float]:
    """The measures of one reply.

    Returns:
        written, empty, refused: 1 or 0.
        truncated: 1 or 0; nan where the harness does not say.
        length: characters, 0 if empty.
        terms: how many distinct terms of the persona's values it has, see `choice.terms`. It grows with the length.
        name: 1 if it says the user's name, else 0; nan if the persona has none.
        language: 1 if it is in the language of the question, else 0; nan if it is empty.
    """
    text = text_of(reply.text) or ""
    name = facts["name"]
    return {
        "written": float(answer == WRITTEN),
        "empty": float(not text),
        "refused": float(answer == "refusal"),
        "truncated": math.nan if reply.truncated is None else float(answer == "truncated"),
        "length": float(len(text)),
        "terms": float(len(overlap_terms(text) & _known(facts["persona"]))),
        "name": float(says(name, text)) if name else math.nan,
        "language": float(language_of(text) == language_of(facts["question"])) if text else math.nan,
    }


@lru_cache(maxsize=4096)  # a user asks many questions
def _known(values: str) -> frozenset[str]:
    return overlap_terms(values)
