"""Replies that are texts for a user to read: whether there is a whole one."""

from __future__ import annotations

from .answers import why_not
from .markup import shown_text

WRITTEN = "written"
"""The one label: the reply is a whole text that does what it was asked for."""

SHORT = 400
"""Characters. A longer text may say in passing what it cannot do; a refusal says little else."""


def read_written(reply: str, truncated: bool = False) -> str:
    """`written`, or the reason why a reply is not: an element of `answers.REASONS`."""
    text = shown_text(reply)
    if text is None or truncated:
        return "truncated"
    if not text:
        return "no_response"
    return "refusal" if len(text) <= SHORT and why_not(text) == "refusal" else WRITTEN
