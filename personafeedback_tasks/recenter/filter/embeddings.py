"""Texts -> unit vectors of a frozen sentence-embedding model: Sentence-BERT (arXiv 1908.10084), on the CPU."""

# The same texts and the same model give the same vectors on one machine.

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ...common.errors import OptionError, require
from ...common.records import cut, short

DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"

BATCH = 64
"""Texts in one pass of the model."""

EXTRA = "filter"

Vectors = Any
"""An array of float64, shape (texts, dimensions), each row of length 1."""


class Embedder:
    """A loaded model: a name on the Hugging Face Hub, which is downloaded once, or a folder.

    Attributes:
        name: a name on the Hub, or the absolute path of a folder.
        longest: tokens that it reads; what is beyond them is cut off.
    """

    def __init__(self, model: str) -> None:
        require("sentence_transformers", extra=EXTRA)
        import torch
        from sentence_transformers import SentenceTransformer

        self.name = name_of(model)
        try:
            self._model = SentenceTransformer(self.name, device="cpu", model_kwargs={"dtype": torch.float32})
        except Exception as error:  # whatever is wrong with somebody's files
            why = cut(str(error).partition("\n")[0].rstrip("."), 200)
            raise OptionError(
                f"The embedding model {short(model)} could not be loaded ({why}). Pass the name of a "
                "sentence-transformers model on the Hugging Face Hub, which needs a network once, or a folder with one."
            ) from error
        self.longest: int | None = self._model.max_seq_length

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of the weights, the vocabulary and the length limit."""
        digest = hashlib.sha256(f"{self.longest}".encode())
        for name, weights in sorted(self._model.state_dict().items()):
            digest.update(f"{name} {weights.dtype} {tuple(weights.shape)}".encode())
            digest.update(weights.contiguous().numpy().tobytes())
        for token, number in sorted(self._model.tokenizer.get_vocab().items()):
            digest.update(f"{token} {number}\n".encode())
        return digest.hexdigest()[:12]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, one row per text, in the order given; at least one."""
        import numpy as np

        # each text once, in a fixed order: the texts of a batch are padded alike, which moves last digits
        different = sorted(set(texts))
        vectors = self._model.encode(different, batch_size=BATCH, show_progress_bar=False, normalize_embeddings=True)
        place = {text: index for index, text in enumerate(different)}
        return vectors.astype(np.float64)[[place[text] for text in texts]]


@lru_cache(maxsize=2)
def embedder(model: str) -> Embedder:
    """A model, loaded once in a process."""
    return Embedder(model)


def name_of(model: str) -> str:
    """The model's name; the absolute path where it is a folder."""
    folder = Path(model).expanduser()
    return str(folder.resolve()) if folder.is_dir() else model
