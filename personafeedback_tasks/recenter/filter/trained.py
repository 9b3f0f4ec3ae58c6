"""A trained filter: what it says of a row, and whether the model that says so has seen its user.

A row that the filter was trained on gets the answer of the fold that has not seen its user, so that a score on the training
data can be compared with a language model's. Any other row gets the answer of the filter that was trained on all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from ...common.embeddings import Vectors, embedder
from ...common.errors import DataError
from ...engine.cases import digest_of
from ...engine.evidence import Reply
from ..rows import Relevance
from .evaluation import Prediction
from .features import features_of
from .model import TrainedFilter

JUDGE = "relevance-filter"
"""Its name as a judge: `--model personafeedback/NAME`."""


@dataclass(frozen=True)
class Filter:
    """A filter that can be asked. The embedding model is loaded when the first row needs it.

    Attributes:
        folder: where it was read from.
        embeddings: the name or folder of its embedding model.
        digest: of that model.
        held_out: (row id, `text_digest`) of each training row -> its prediction by a model that has not seen its user.
        users: those of the training rows.
    """

    folder: Path
    embeddings: str
    digest: str
    model: TrainedFilter
    held_out: dict[tuple[str, str], Prediction]
    users: frozenset[str]

    @property
    def signature(self) -> str:
        """Its name as a judge, and SHA-256 (12 hex digits) of its weights and its threshold."""
        weights = self.model.weights
        return f"{JUDGE} {digest_of([*map(float, weights.weights), weights.bias, self.model.threshold])}"

    def reply(self, row: str, texts: tuple[str, ...]) -> Reply:
        """The answer on a line of its own, and where it comes from.

        Args:
            row: its id.
            texts: its attribute and its prompt.
        """
        made = self.predicted(row, texts)
        how = "trained without this user" if made.fold else "trained on all rows"
        return Reply(
            f"{made.answer}\n\nProbability {made.probability:.3f}, selected from {made.threshold:.3f} on; {how}."
        )

    def drops(self, row: Relevance) -> bool:
        """Whether a chain goes on without the attribute, since it is not relevant."""
        return not self.predicted(row.id, texts(row)).found

    def unbiased(self, row: Relevance) -> bool:
        """Whether no model that answers for the row has seen its user: the row's answer is held out, or the user is a new one."""
        return bool(self._held_out(row.id, texts(row))) or row.user_id not in self.users

    def predicted(self, row: str, texts: tuple[str, ...]) -> Prediction:
        """
        Raises:
            DataError: the embedding model is another one.
        """
        if held_out := self._held_out(row, texts):
            return held_out
        columns = features_of(*map(self._vector, texts))
        return Prediction(0, float(self.model.weights.probabilities(columns)[0]), self.model.threshold)

    def _held_out(self, row: str, texts: tuple[str, ...]) -> Prediction | None:
        """Of a training row by a model that has not seen its user; None for any other row."""
        text = text_digest(texts)
        return self.held_out.get((row, text)) or self._of_texts.get(text)

    @cached_property
    def _of_texts(self) -> dict[str, Prediction]:
        """The same by texts alone, of the first row that has them: data may have other ids."""
        return {text: made for (_, text), made in reversed(self.held_out.items())}

    @cached_property
    def _vector(self) -> Callable[[str], Vectors]:
        """A prompt is there once for each attribute: each text is embedded once.

        Raises:
            DataError: the embedding model is another one.
        """
        loaded = embedder(self.embeddings)
        if loaded.digest != self.digest:
            raise DataError(
                f"{self.embeddings}: found an embedding model with the digest {loaded.digest}, expected the one that the filter in "
                f"{self.folder} was trained with, {self.digest}. Pass that one with -M embeddings=, or train again."
            )
        return lru_cache(maxsize=4096)(lambda text: loaded.embed([text]))


def texts(row: Relevance) -> tuple[str, ...]:
    """Those that decide what a filter says of a row."""
    return row.attribute, row.prompt


def text_digest(texts: tuple[str, ...]) -> str:
    """SHA-256 (12 hex digits) of a row's texts."""
    return digest_of(texts)
