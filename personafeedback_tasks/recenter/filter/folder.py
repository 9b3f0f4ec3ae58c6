"""The folder of a trained filter: JSON, no pickle, so that it is safe to load.

Texts of the training data get the prediction of the fold without their user; others are asked anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ...common.errors import DataError
from ...common.records import decoded, load_json, one_of, rows
from ...core.cases import digest_of
from ...parsing.verdicts import NO, YES
from ..rows import Relevance
from .embeddings import Vectors, embedder
from .model import Model

ABOUT, PREDICTIONS = "filter.json", "predictions.jsonl"

WHAT_TO_DO = "Train it again: `personafeedback recenter train`"


class _Embeddings(Struct):
    model: str
    digest: str


class _About(Struct):
    embeddings: _Embeddings
    threshold: float
    bias: float
    weights: Annotated[list[float], Meta(min_length=1)]


class _Predicted(Struct):
    text: str
    answer: Annotated[str, one_of(YES, NO)]


@dataclass(frozen=True)
class Filter:
    """A filter that can be asked. The embedding model is loaded when the first row needs it."""

    folder: Path
    embeddings: _Embeddings
    model: Model
    held_out: dict[str, bool]  # digest of the texts of a training row -> whether the fold without its user drops it

    @property
    def signature(self) -> str:
        """SHA-256 (12 hex digits) of its weights and its threshold, after its name."""
        model = self.model
        return f"relevance-filter {digest_of([*map(float, model.weights), model.bias, model.threshold])}"

    def drops(self, row: Relevance) -> bool:
        """Whether a chain leaves the attribute out as irrelevant. DataError if the embedding model is another one."""
        import numpy as np

        text = digest_of(texts(row))
        if text in self.held_out:
            return self.held_out[text]
        vectors = np.hstack([self._vector(text) for text in texts(row)])
        return bool(self.model.probabilities(vectors)[0] < self.model.threshold)

    @cached_property
    def _vector(self) -> Callable[[str], Vectors]:
        # a prompt recurs with each attribute, so texts are embedded once
        loaded = embedder(self.embeddings.model)
        if loaded.digest != self.embeddings.digest:
            raise DataError(
                f"{self.embeddings.model}: found an embedding model with the digest {loaded.digest}, expected the one "
                f"that the filter in {self.folder} was trained with, {self.embeddings.digest}. Put it back, or retrain."
            )
        return lru_cache(maxsize=4096)(lambda text: loaded.embed([text]))


def texts(row: Relevance) -> tuple[str, ...]:
    """The texts that decide what a filter predicts."""
    return row.attribute, row.prompt


def read(path: str | Path) -> Filter:
    """The filter in a folder. DataError if it is broken."""
    import numpy as np

    folder = Path(path).expanduser()
    if not (folder / ABOUT).is_file():
        raise DataError(
            f"{folder}: found no {ABOUT}, expected the folder of a trained filter. {WHAT_TO_DO}, or fix the path."
        )
    about = decoded(folder / ABOUT, load_json(folder / ABOUT, "JSON"), _About, f"{WHAT_TO_DO}.")
    held_out: dict[str, bool] = {}
    for number, row in rows(folder / PREDICTIONS):
        line = decoded(f"{folder / PREDICTIONS}, line {number}", row, _Predicted, f"{WHAT_TO_DO}.")
        held_out.setdefault(line.text, line.answer == NO)  # of equal texts the first row counts
    model = Model(np.array(about.weights), about.bias, about.threshold)
    return Filter(folder, about.embeddings, model, held_out)
