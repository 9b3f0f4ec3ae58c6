"""Texts that say nearly the same: MinHash finds candidates, their exact likeness decides."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any
from zlib import crc32

from ...common.errors import require
from ...common.text import nfkc

SHINGLE = 5
"""Characters. Short enough for Chinese, long enough that two texts about one matter share few."""

_PERMUTATIONS = 64


def shingles(text: str) -> frozenset[str]:
    """The distinct runs of SHINGLE characters of a text, without its spaces, signs and capitals; a shorter text is one run."""
    letters = "".join(char for char in nfkc(text).lower() if char.isalnum())
    return frozenset(letters[at : at + SHINGLE] for at in range(max(1, len(letters) - SHINGLE + 1)))


def likeness(text: str, other: str) -> float:
    """Jaccard's index of their shingles, in [0, 1]: 1 for equal texts."""
    first, second = shingles(text), shingles(other)
    return len(first & second) / len(first | second)


class Seen:
    """Texts that were taken, to be asked for one that a new text is too much like.

    Args:
        threshold: likeness from which two texts are near duplicates, in (0, 1).
        texts: (id, text) of those taken before.
    """

    def __init__(self, threshold: float, texts: Iterable[tuple[str, str]] = ()):
        require("datasketch", extra="build")
        from datasketch import MinHashLSH

        self._threshold = threshold
        # Looser than the threshold: a candidate too many costs a comparison, one too few is a duplicate that nobody sees.
        self._index = MinHashLSH(threshold=threshold * 0.7, num_perm=_PERMUTATIONS)
        self._texts: dict[str, str] = {}
        for name, text in texts:
            self.add(name, text)

    def add(self, name: str, text: str) -> None:
        """Take a text. One of that id that was there before is replaced."""
        if name in self._texts:
            self._index.remove(name)
        self._texts[name] = text
        self._index.insert(name, _signature(shingles(text)))

    def like(self, text: str) -> str | None:
        """The id of the text that this one is most like, if they are near duplicates."""
        new = shingles(text)
        near = []
        for name in self._index.query(_signature(new)):
            old = shingles(self._texts[name])
            share = len(new & old) / len(new | old)
            if share >= self._threshold:
                near.append((-share, name))
        return min(near)[1] if near else None


@cache
def _empty() -> Any:
    """The signature of no text: to draw its permutations takes as long as all the rest of one."""
    from datasketch import MinHash

    return MinHash(num_perm=_PERMUTATIONS, hashfunc=crc32)


def _signature(runs: frozenset[str]) -> Any:
    signature = _empty().copy()
    signature.update_batch([shingle.encode("utf-8", "surrogatepass") for shingle in runs])
    return signature
