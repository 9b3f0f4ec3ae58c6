"""The most likely tokens at one place of a reply -> the log-probabilities of the letters there.

A letter has many tokens: alone, after a space, in brackets, full width. Their probabilities are added up. Which tokens
count is a closed table, the same for every letter; the readers of replies (`letters.readers`) read each as its letter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product

from .answers import LETTERS

LogLikelihoods = tuple[float, ...]
"""Log-likelihood (nats) of each label after one prompt."""

Token = tuple[str, float]
"""Its text, as a provider writes it, and its log-probability (nats)."""

_TO_FULL_WIDTH = ord("Ａ") - ord("A")
_BEFORE = ("", "(", "[", "（", "【", "*", "**")
_AFTER = ("", ")", "]", "）", "】", "*", "**", ".", "。", ",", "，", "、", ":", "：")

_BLANK = " \t\n\r\u3000\u00a0\u2581ĠĊĉč"
"""White space in a token's text: plain, as in SentencePiece (`▁`) and as in byte-level vocabularies (`Ġ`, `Ċ`)."""

_NEWLINE = "<0x0A>"
"""SentencePiece's token for a newline that its vocabulary lacks."""


def _byte_level(text: str) -> str:
    # The text as byte-level vocabularies write it: one visible character per byte (GPT-2's table).
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(256) if byte not in visible]
    return "".join(chr(byte if byte in visible else 256 + hidden.index(byte)) for byte in text.encode())


@cache
def spellings(letters: tuple[str, ...]) -> dict[str, str]:
    """Text of a token without white space around it -> the letter that it spells."""
    found = {}
    for letter in letters:
        wide = chr(ord(letter) + _TO_FULL_WIDTH)
        for before, form, after in product(_BEFORE, (letter, letter.lower(), wide, wide.lower()), _AFTER):
            found[before + form + after] = found[_byte_level(before + form + after)] = letter
    return found


def spelled(token: str, letters: tuple[str, ...] = LETTERS) -> str | None:
    """The letter that a token spells, if any."""
    return spellings(letters).get(token.strip(_BLANK))


def first_written(tokens: Sequence[str]) -> int | None:
    """The place of the first token that is not white space: where the letter must be. None if there is none."""
    for place, token in enumerate(tokens):
        if token.replace(_NEWLINE, "").strip(_BLANK):
            return place
    return None


def top_reader(letters: tuple[str, ...]) -> Callable[[Iterable[Token]], LogLikelihoods]:
    """The function that finds the log-probabilities of the letters among the most likely tokens of one place."""
    # A letter that is not among them is less likely than all that are: -inf, see `bounded`. Where none of the letters
    # is among them, the model was about to say something else: all are undefined (nan).
    #
    # A token that is listed twice (some providers list the generated one again) counts once. Two tokens may have the
    # same text (vLLM writes `A` and `▁A` alike), but then not the same log-probability: both count.

    def read(top: Iterable[Token]) -> LogLikelihoods:
        listed: dict[str, list[float]] = {letter: [] for letter in letters}
        for text, log_probability in set(top):
            if letter := spelled(text, letters):
                listed[letter].append(log_probability)
        if not any(listed.values()):
            return (math.nan,) * len(letters)
        return tuple(_log_of_sum(values) for values in listed.values())

    return read


_TOKEN_ID = re.compile(r"token_id:\d+")

_ROUNDING = 1e-3
"""By how much the log-likelihood of a certain token may be above 0."""


def impossible(values: Iterable[float], texts: Iterable[str] = ()) -> str:
    """Why log-likelihoods are none, an element of `answers.IMPOSSIBLE`; empty for those that a model may have given.

    Args:
        values: of the labels, or of all alternatives at one place.
        texts: of these alternatives.
    """
    values = list(values)
    if any(map(_TOKEN_ID.fullmatch, texts)):
        return "token_ids"
    if any(value > _ROUNDING for value in values):
        return "positive_likelihoods"
    if any(map(math.isnan, values)) or max(values) == -math.inf:
        return "undefined_likelihoods"
    return "zero_likelihoods" if len(values) > 1 and not any(values) else ""


def bounded(values: LogLikelihoods, top: Iterable[Token]) -> LogLikelihoods:
    """The log-probabilities of the letters; one that is not among the top tokens has the highest that it can have."""
    # That of the least likely of these, or what all of them leave.
    listed = [value for _, value in set(top)]
    left = 1 - math.fsum(map(math.exp, listed))
    most = min(*listed, math.log(left) if left > 0 else -math.inf)
    return tuple(most if value == -math.inf else value for value in values)


def mass(values: Iterable[float]) -> float:
    """p_letters: the probability of all letters together. A low one: the model was not about to name a letter."""
    return math.fsum(math.exp(value) for value in values if not math.isnan(value))


def _log_of_sum(values: Sequence[float]) -> float:
    # The logarithm of the sum of the probabilities; nothing underflows.
    if not values:
        return -math.inf
    top = max(values)
    return top if math.isinf(top) else top + math.log(math.fsum(math.exp(value - top) for value in values))
