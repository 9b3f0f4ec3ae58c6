"""The most likely tokens at one place of a reply -> the log-probabilities of the letters A and B there.

A letter has many tokens: alone, after a space, in brackets, full width. Their probabilities are added up. Which tokens
count is a closed table, the same for both letters; `answers.read_reply` reads each of them as its letter too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product

from .answers import LETTERS

LogLikelihoods = tuple[float, float]
"""Log-probability (nats) of the letters (A, B) after one prompt."""

Token = tuple[str, float]
"""Its text, as a provider writes it, and its log-probability (nats)."""

_FORMS = {"A": ("A", "a", "Ａ", "ａ"), "B": ("B", "b", "Ｂ", "ｂ")}
_BEFORE = ("", "(", "[", "（", "【", "*", "**")
_AFTER = ("", ")", "]", "）", "】", "*", "**", ".", "。", ",", "，", "、", ":", "：")

_BLANK = " \t\n\r\u3000\u00a0\u2581ĠĊĉč"
"""White space in a token's text: as it is, as SentencePiece (`▁`) and as byte-level vocabularies (`Ġ`, `Ċ`) write it."""

_NEWLINE = "<0x0A>"
"""SentencePiece's token for a newline that its vocabulary lacks."""


def _byte_level(text: str) -> str:
    """The text as byte-level vocabularies write it: one visible character per byte (GPT-2's table)."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(256) if byte not in visible]
    return "".join(chr(byte if byte in visible else 256 + hidden.index(byte)) for byte in text.encode())


SPELLINGS = {
    write(before + form + after): letter
    for letter in LETTERS
    for before, form, after in product(_BEFORE, _FORMS[letter], _AFTER)
    for write in (str, _byte_level)
}
"""Text of a token without white space around it -> the letter that it spells."""


def spelled(token: str) -> str | None:
    """The letter that a token spells, if any."""
    return SPELLINGS.get(token.strip(_BLANK))


def first_written(tokens: Sequence[str]) -> int | None:
    """The place of the first token that is not white space: where the letter must be. None if there is none."""
    written = (place for place, token in enumerate(tokens) if token.replace(_NEWLINE, "").strip(_BLANK))
    return next(written, None)


def read_top(top: Iterable[Token]) -> LogLikelihoods:
    """The log-probabilities of (A, B) among the most likely tokens of one place.

    A letter that is not among them is less likely than all that are, and counts as impossible (-inf). Where neither
    letter is among them, the model was about to say something else: both are undefined (nan).

    Args:
        top: a token that is listed twice (some providers list the generated one again) counts once. Two tokens may
            have the same text (vLLM writes `A` and `▁A` alike), but then not the same log-probability: both count.
    """
    listed: dict[str, list[float]] = {letter: [] for letter in LETTERS}
    for text, log_probability in set(top):
        if letter := spelled(text):
            listed[letter].append(log_probability)
    if not any(listed.values()):
        return math.nan, math.nan
    a, b = (_log_of_sum(listed[letter]) for letter in LETTERS)
    return a, b


def mass(pair: Iterable[float]) -> float:
    """p_letters: the probability of both letters together. A low one: the model was not about to name a letter."""
    return math.fsum(math.exp(value) for value in pair if not math.isnan(value))


def _log_of_sum(values: Sequence[float]) -> float:
    """The logarithm of the sum of the probabilities; nothing underflows."""
    if not values:
        return -math.inf
    top = max(values)
    return top if math.isinf(top) else top + math.log(math.fsum(math.exp(value - top) for value in values))
