"""How much of two texts is the same, by their words. It does not see a paraphrase."""

from __future__ import annotations

from .text import nfkc

SHINGLE = 5
"""Characters. Short enough for Chinese, long enough that two texts about one matter share few."""


def shingles(text: str) -> frozenset[str]:
    """The distinct runs of SHINGLE characters of a text, without its spaces, signs and capitals; a shorter text is one run."""
    letters = "".join(char for char in nfkc(text).lower() if char.isalnum())
    return frozenset(letters[at : at + SHINGLE] for at in range(max(1, len(letters) - SHINGLE + 1)))


def likeness(text: str, other: str) -> float:
    """Jaccard's index of their shingles, in [0, 1]: 1 for equal texts."""
    first, second = shingles(text), shingles(other)
    return len(first & second) / len(first | second)
