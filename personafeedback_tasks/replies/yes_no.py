"""Read a judge's reply to "yes or no?": YES, NO, or a named reason why it is neither.

A line that says nothing else, or one that names its answer, counts most: of several, all must agree. Without one, each clause
that begins with yes or no and ends there counts, and again all must agree. What is open to two readings is unreadable.
"""

from __future__ import annotations

import re

from .answers import why_not
from .plain import plain, spoken

LABELS = ("YES", "NO")

_BOTH = re.compile(
    r"\byes\b\W{0,3}(?:\s*(?:or|and|/|\||vs\.?)\s*)\W{0,3}\bno\b|\bno\b\W{0,3}(?:\s*(?:or|and|/|\||vs\.?)\s*)\W{0,3}\byes\b",
    re.I,
)
"""Both in one breath: the question repeated, or no answer."""

_NAMED = re.compile(
    r"^[^\w\n?]*(?P<alone>yes|no)[^\w\n?]*$"
    r"|\b(?:answer|verdict|decision|conclusion)(?:[ ]is|[ ]would[ ]be)?[ ]?[:=]?[^\w\n?]{0,4}(?P<named>yes|no)\b(?![\w?-])",
    re.I | re.M,
)
_CLAUSE = re.compile(
    r"(?:^|[.?!;:,][ ]+)[^\w\n.!?;:,]*(?P<said>yes|no)(?=[ ]*(?:[.,;:!\u2013\u2014]|-[ -]|$))", re.I | re.M
)


def read_yes_no(reply: str, truncated: bool = False) -> str:
    """YES, NO, or the element of `answers.REASONS` that says why the reply is neither.

    Args:
        reply: everything that the judge said.
        truncated: it was cut off by its token limit. Then only a line of its own, or an answer that is named, counts.
    """
    text = spoken(reply)
    if not text:
        return "truncated" if text is None else "no_response"
    said = _BOTH.sub("…", plain(text))
    named = {(found["alone"] or found["named"]).upper() for found in _NAMED.finditer(said)}
    labels = named or (set() if truncated else {found["said"].upper() for found in _CLAUSE.finditer(said)})
    if len(labels) == 1:
        return labels.pop()
    return "truncated" if truncated else why_not(said)
