"""Replies that are texts for a user to read: the text without the thinking, and whether there is one."""

from __future__ import annotations

import re

from .answers import why_not

WRITTEN = "written"
"""The one label: the reply is a whole text that does what it was asked for."""

SHORT = 400
"""Characters. A longer text may say in passing what it cannot do; a refusal says little else."""

_OPEN, _CLOSE = re.compile(r"\s*<think(?:ing)?>", re.I), re.compile(r"</think(?:ing)?>", re.I)


def shown_text(reply: str) -> str | None:
    """What a user would read: the reply without its thinking and outer spaces; None if it never stops thinking."""
    end = _CLOSE.search(reply)
    opened_by_template = end is not None and _OPEN.search(reply, 0, end.start()) is None  # at the end of the prompt
    if end is not None and opened_by_template:
        reply = reply[end.end() :]
    while _OPEN.match(reply):
        end = _CLOSE.search(reply)
        if end is None:
            return None
        reply = reply[end.end() :]
    return reply.strip()


def read_written(reply: str, truncated: bool = False) -> str:
    """`written`, or the reason why a reply is not: an element of `answers.REASONS`."""
    text = shown_text(reply)
    if text is None or (truncated and text):
        return "truncated"
    if not text:
        return "truncated" if truncated else "no_response"
    return "refusal" if len(text) <= SHORT and why_not(text) == "refusal" else WRITTEN
