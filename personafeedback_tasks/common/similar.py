"""How much of two texts is the same, by their words: exact at every size. It does not see a paraphrase."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from .text import nfkc

SHINGLE = 5
"""Characters. Short enough for Chinese, long enough that two texts about one matter share few."""


def shingles(text: str) -> frozenset[str]:
    """The distinct runs of SHINGLE letters and digits of a text, in lower case; a shorter text is one run."""
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
        self._threshold = threshold
        self._texts: dict[str, str] = {}
        self._with: dict[str, list[str]] = defaultdict(list)  # shingle -> ids of the texts that have it
        for name, text in texts:
            self.add(name, text)

    def add(self, name: str, text: str) -> None:
        """Take a text. Its id is new."""
        self._texts[name] = text
        for shingle in shingles(text):
            self._with[shingle].append(name)

    def like(self, text: str) -> str | None:
        """The id of the text that this one is most like, if they are near duplicates."""
        new = shingles(text)
        # A near duplicate lacks at most so many of them. So it has some of the rarest ones, and the common ones, which
        # nearly every text has, need not be looked up.
        lacks = int(len(new) * (1 - self._threshold) + 1e-9)
        looked_up = sorted(new, key=lambda shingle: len(self._with.get(shingle, ())))[: (len(new) + lacks + 2) // 2]
        shared: Counter[str] = Counter()
        for shingle in looked_up:
            shared.update(self._with.get(shingle, ()))
        near = []
        for name, count in shared.items():
            if count >= len(looked_up) - lacks:
                old = shingles(self._texts[name])
                share = len(new & old) / len(new | old)
                if share >= self._threshold:
                    near.append((-share, name))
        return min(near)[1] if near else None
