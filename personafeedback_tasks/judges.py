"""Two judges without a model. They read the prompt like any model, and show what a shortcut is worth."""

from __future__ import annotations

from collections.abc import Callable

from .answers import LETTERS
from .prompts import responses


def longest(prompt: str) -> str:
    """The letter of the response with more characters; the first one on a tie."""
    first, second = responses(prompt)
    return LETTERS[0] if len(first) >= len(second) else LETTERS[1]


def first(prompt: str) -> str:
    """The letter of the response that is shown first."""
    return LETTERS[0]


JUDGES: dict[str, Callable[[str], str]] = {"longest": longest, "first": first}
