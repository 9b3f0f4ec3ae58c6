"""Two judges without a model. They read the prompt like any model, and show how well a shortcut scores.

Each is one definition on the two responses as they are shown: the judge finds them in a prompt, `baselines` in a case.
"""

from __future__ import annotations

from collections.abc import Callable

from ..replies.answers import LETTERS
from .prompts import responses


def more(first: float, second: float) -> str:
    """The letter of the larger value; the first one on a tie, so that both orders together score 0.5."""
    return LETTERS[0] if first >= second else LETTERS[1]


def longest_of(first: str, second: str) -> str:
    """The letter of the response with more characters; the first one on a tie."""
    return more(len(first), len(second))


def first_of(first: str, second: str) -> str:
    """The letter of the response that is shown first."""
    return LETTERS[0]


def longest(prompt: str) -> str:
    """`longest_of` the two responses of a prompt."""
    return longest_of(*responses(prompt))


def first(prompt: str) -> str:
    """`first_of` any prompt: the responses need not be found in it."""
    return first_of("", "")


JUDGES: dict[str, Callable[[str], str]] = {"longest": longest, "first": first}
