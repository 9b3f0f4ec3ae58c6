"""A trained filter as a judge: `--model personafeedback/relevance-filter -M path=DIR` in Inspect.

A row that the filter was trained on gets the answer of the fold that has not seen its user, so that a score on the training
data can be compared with a language model's. Any other pair gets the answer of the filter that was trained on all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...common.embeddings import Embedder, embedder
from ...common.errors import DataError, OptionError
from ...engine.evidence import Reply
from ...engine.judges import Judge
from ..relevance import texts_of
from .answers import RecordedAnswers
from .evaluation import Prediction
from .features import features
from .folder import Filter, read, text_digest


def relevance_filter(path: str, answers: str | None = None, embeddings: str | None = None) -> Judge:
    """
    Args:
        answers: the recorded replies of the language model that the filter was trained with, if it was: JSONL with `id` and `reply`.
        embeddings: the embedding model, where it is not at the place that the folder names: a name on the Hub, or a folder.

    Raises:
        DataError: the folder or the file is broken.
        OptionError: the filter needs `answers` and there are none, or the other way round.
    """
    trained = read(Path(str(path)))
    if trained.with_answers and answers is None:
        raise OptionError(
            f"{path}: this filter weighs a language model's recorded answers, and cannot answer without them. Pass its replies to "
            "the rows that you ask about: -M answers=FILE."
        )
    if answers is not None and not trained.with_answers:
        raise OptionError(f"{path}: this filter was trained without a language model's answers. Remove -M answers=.")
    recorded = None if answers is None else RecordedAnswers(str(answers))
    return _FilterJudge(trained, recorded, trained.embeddings if embeddings is None else str(embeddings))


class _FilterJudge:
    """See `relevance_filter`. The embedding model is loaded when the first pair needs it."""

    def __init__(self, trained: Filter, recorded: RecordedAnswers | None, embeddings: str) -> None:
        self._filter, self._recorded, self._embeddings = trained, recorded, embeddings
        self._vector = lru_cache(maxsize=4096)(lambda text: self._embedder().embed([text]))

    def __call__(self, prompt: str, about: Mapping[str, Any]) -> Reply:
        attribute, asked = texts_of(prompt)
        row = str(about.get("case_id", ""))
        text = text_digest(attribute, asked)
        held_out = self._filter.held_out.get((row, text)) or self._filter.held_out_of_texts.get(text)
        if held_out is not None:
            return _reply(held_out, "trained without this user")
        if self._recorded is not None and row in self._filter.rows:
            raise DataError(
                f"{row}: found other texts than those that the language model's recorded answer is to, expected the same. This "
                "filter cannot answer under control=other_user, or for data with other texts under the same ids."
            )
        answers = None if self._recorded is None else [self._recorded.of(row)]
        columns = features(self._vector(attribute), self._vector(asked), answers)
        model = self._filter.model
        probability = float(model.weights.probabilities(columns)[0])
        return _reply(Prediction(0, probability, model.threshold), "trained on all rows")

    def _embedder(self) -> Embedder:
        loaded = embedder(self._embeddings)
        if loaded.digest != self._filter.digest:
            raise DataError(
                f"{self._embeddings}: found an embedding model with the digest {loaded.digest}, expected the one that the filter in "
                f"{self._filter.folder} was trained with, {self._filter.digest}. Pass that one with -M embeddings=, or train again."
            )
        return loaded


def _reply(made: Prediction, how: str) -> Reply:
    """The answer on a line of its own, and where it comes from."""
    return Reply(f"{made.answer}\n\nProbability {made.probability:.3f}, selected from {made.threshold:.3f} on; {how}.")
