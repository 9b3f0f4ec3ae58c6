"""What can be said of a reply without a judge. None of it is quality."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..choice.names import says
from ..choice.terms import overlap_terms
from ..common.text import language_of
from ..engine.evidence import Reply
from ..replies.written import described, text_of


def measures(answer: str, reply: Reply, facts: Mapping[str, Any]) -> dict[str, float]:
    """The measures of one reply.

    Returns:
        What `described` gives, and
        terms: how many distinct terms of the persona's values it has, see `choice.terms`. It grows with the length.
        name: 1 if it says the user's name, else 0; nan if the persona has none.
        language: 1 if it is in the language of the question, else 0; nan if it is empty.
    """
    text = text_of(reply.text) or ""
    name = facts["name"]
    return {
        **described(answer, reply.text, reply.truncated),
        "terms": float(len(overlap_terms(text) & _known(facts["persona"]))),
        "name": float(says(name, text)) if name else math.nan,
        "language": float(language_of(text) == language_of(facts["question"])) if text else math.nan,
    }


@lru_cache(maxsize=4096)  # a user asks many questions
def _known(values: str) -> frozenset[str]:
    return overlap_terms(values)
