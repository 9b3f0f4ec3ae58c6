"""Texts that say nearly the same: by their words, or by their meaning where a model of sentence embeddings is at hand.

By words, MinHash finds candidates and their exact likeness decides. It does not see a paraphrase.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any
from zlib import crc32

from ...common.embeddings import DEFAULT, embedder, is_here
from ...common.errors import DataError, require
from ...common.similar import shingles
from ..settings import FILE, Settings

MEANT = 0.75
"""Cosine from which two questions mean the same. Of eight pairs of plain paraphrases seven have more; of nine pairs on one matter that
ask for something else, none has.
"""

_PERMUTATIONS = 64


def alike(settings: Settings, threshold: float, texts: Iterable[tuple[str, str]]) -> Seen | SeenByMeaning:
    """What finds near duplicates in a build: by meaning where the model of its settings is on this machine, else by words.

    The default model knows English only, so that other languages need one that is named.

    Args:
        threshold: likeness of words from which two texts are near duplicates, in (0, 1).
        texts: (id, text) of those taken before.

    Raises:
        DataError: build.yaml names a model that is not on this machine.
    """
    model = settings.embeddings
    if model == DEFAULT and (settings.language != "en" or not is_here(model)):
        return Seen(threshold, texts)
    if not is_here(model):
        raise DataError(
            f"{FILE}: found embeddings = {model!r}, which is not on this machine, expected a model of sentence-transformers in the cache, or a "
            f"folder. Install the extra `filter` and run `hf download {model}`, or remove the line."
        )
    return SeenByMeaning(model, MEANT, texts)


class SeenByMeaning:
    """As `Seen`, by the cosine of sentence embeddings; threshold in (0, 1)."""

    def __init__(self, model: str, threshold: float, texts: Iterable[tuple[str, str]]):
        self._embedder, self._threshold = embedder(model), threshold
        texts = list(texts)
        self._names = [name for name, _ in texts]
        self._vectors = list(self._embedder.embed([text for _, text in texts])) if texts else []

    def add(self, name: str, text: str) -> None:
        """Take a text."""
        self._names.append(name)
        self._vectors += list(self._embedder.embed([text]))

    def like(self, text: str) -> str | None:
        """The id of the text that this one is most like, if they are near duplicates."""
        if not self._names:
            return None
        import numpy as np

        cosines = np.stack(self._vectors) @ self._embedder.embed([text])[0]
        best = int(cosines.argmax())
        return self._names[best] if cosines[best] >= self._threshold else None


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
