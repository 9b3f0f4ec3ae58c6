"""Text of others (names, paths, replies, errors), as the place that shows it needs it: one function per place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SYNTAX = re.compile(r"[`*~\[|$]|(?<!\w)_+|_+(?!\w)|\\(?=[!-/:-@\[-`{-~])|<(?=[A-Za-z/!?])|(?<=<)!")
"""What begins code, emphasis, a link, a cell, a formula or HTML in Markdown; a backslash that would escape."""


def terminal(text: str) -> str:
    """One line that moves no cursor, changes no color and hides nothing: the rest is shown as escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def line(text: str) -> str:
    """The words of a text in one printable line."""
    return terminal(" ".join(text.split()))


def markdown(text: str) -> str:
    """One line in Markdown, without emphasis, links, cells and HTML of its own."""
    return _SYNTAX.sub(lambda found: re.sub(r"([^\w\s]|_)", r"\\\1", found[0]), line(text))


def code(text: str) -> str:
    """A code span of Markdown. Backticks inside become apostrophes."""
    shown = line(text).replace("`", "'")
    return f"`{shown or ' '}`"


def fenced(text: str) -> str:
    """A code block of Markdown with the lines of a text; its fence is longer than any in it."""
    shown = page(text)
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`+", shown))])
    return f"{fence}\n{shown}\n{fence}"


def page(text: str) -> str:
    """The lines of a text for a web page, with escapes of what is not printable; the template escapes HTML."""
    if text.replace("\n", "").isprintable():
        return text
    return "\n".join(map(terminal, text.split("\n")))


def comment(text: str) -> str:
    """One line inside a comment of HTML, which it cannot end."""
    return re.sub("-(?=-)", "- ", line(text)).replace("`", "'")


def without_passwords(value: Any) -> Any:
    """A text, or every text in lists and mappings, without the user and the password, or the token, of any URL."""
    if isinstance(value, str):
        return re.sub(r"(?<=://)[^\s/?#]*@", "", value)
    if isinstance(value, Mapping):
        return {key: without_passwords(item) for key, item in value.items()}
    return [without_passwords(item) for item in value] if isinstance(value, list) else value
