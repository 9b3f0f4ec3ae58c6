"""A trained filter as a judge: `--model personafeedback/relevance-filter -M path=DIR` in Inspect, or `extraction-filter`.

A row that the filter was trained on gets the answer of the fold that has not seen its user, so that a score on the training
data can be compared with a language model's. Any other row gets the answer of the filter that was trained on all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path

from ...common.embeddings import Embedder, Vectors, embedder
from ...common.errors import DataError, OptionError
from ...engine.evidence import Reply
from ...engine.judges import Judge
from ...engine.recorded import Recorded
from ...engine.recorded import read as read_replies
from ..rows import JudgedRow
from .evaluation import Prediction
from .folder import Filter, read, text_digest
from .stage import STAGES


def _judge(stage: str, path: str, answers: str | None = None, embeddings: str | None = None) -> Judge:
    """
    Args:
        stage: of STAGES.
        answers: the recorded replies of the language model that the filter was trained with, if it was: JSONL with `id` and `reply`.
        embeddings: the embedding model, where it is not at the place that the folder names: a name on the Hub, or a folder.

    Raises:
        DataError: the folder or the file is broken.
        OptionError: the filter is of another stage, or it needs `answers` and there are none, or the other way round.
    """
    trained = _of_stage(str(path), stage)
    if trained.with_answers and answers is None:
        raise OptionError(
            f"{path}: this filter weighs a language model's recorded answers, and cannot answer without them. Pass its replies to "
            "the rows that you ask about: -M answers=FILE."
        )
    if answers is not None and not trained.with_answers:
        raise OptionError(f"{path}: this filter was trained without a language model's answers. Remove -M answers=.")
    recorded = None if answers is None else read_replies(Path(str(answers)))
    judge = FilterJudge(trained, recorded, None if embeddings is None else str(embeddings))
    return lambda prompt, about: judge.reply(str(about.get("case_id", "")), trained.stage.texts_of(prompt))


relevance_filter, extraction_filter = (partial(_judge, stage) for stage in STAGES)


def step_filter(path: str, stage: str | None = None, embeddings: str | None = None) -> FilterJudge:
    """A filter as a step of the chain.

    Args:
        stage: the one that it must be of.

    Raises:
        DataError: the folder is broken.
        OptionError: the filter is of another stage, or it weighs a language model's recorded answers, which the chain has none of.
    """
    trained = _of_stage(path, stage)
    if trained.with_answers:
        raise OptionError(
            f"{path}: this filter weighs a language model's recorded answers, which no run of the chain has. Train one without --answers."
        )
    return FilterJudge(trained, None, embeddings)


def _of_stage(path: str, stage: str | None) -> Filter:
    trained = read(Path(path))
    if stage not in (None, trained.stage.name):
        raise OptionError(
            f"{path}: found a filter of the stage {trained.stage.name}, expected one of {stage}. `{trained.stage.judge}` is for the task "
            f"{trained.stage.benchmark.name}; train one with `{STAGES[str(stage)].command}`."
        )
    return trained


class FilterJudge:
    """A filter that can be asked. The embedding model is loaded when the first row needs it.

    Attributes:
        stage: whose rows it judges.
        signature: see `Filter`.
    """

    def __init__(self, trained: Filter, recorded: Recorded | None, embeddings: str | None = None) -> None:
        self._filter, self._recorded = trained, recorded
        self._embeddings = embeddings or trained.embeddings
        self.stage, self.signature = trained.stage, trained.signature
        self._vector = lru_cache(maxsize=4096)(lambda text: self._embedder().embed([text]))

    def reply(self, row: str, texts: tuple[str, ...]) -> Reply:
        """The answer on a line of its own, and where it comes from.

        Args:
            row: its id.
            texts: see `FilterStage.texts`.
        """
        made = self.predicted(row, texts)
        how = "trained without this user" if made.fold else "trained on all rows"
        answer = self._filter.stage.labels.label(made.found)
        return Reply(f"{answer}\n\nProbability {made.probability:.3f}, selected from {made.threshold:.3f} on; {how}.")

    def drops(self, row: JudgedRow) -> bool:
        """Whether a chain goes on without what the row is about: it would be rejected, or is not relevant."""
        found = self.predicted(row.id, self.stage.texts(row)).found
        return found is self.stage.drops

    def unbiased(self, row: JudgedRow, texts: tuple[str, ...]) -> bool:
        """Whether no model that answers for the row has seen its user: the row's answer is held out, or the user is a new one."""
        return bool(self._filter.prediction(row.id, text_digest(texts))) or row.user_id not in self._filter.users

    def predicted(self, row: str, texts: tuple[str, ...]) -> Prediction:
        """
        Raises:
            DataError: the recorded answers lack the row, or are to other texts; or the embedding model is another one.
        """
        if held_out := self._filter.prediction(row, text_digest(texts)):
            return held_out
        if self._recorded is not None and row in self._filter.rows:
            raise DataError(
                f"{row}: found other texts than those that the language model's recorded answer is to, expected the same. This "
                "filter cannot answer under control=other_user, or for data with other texts under the same ids."
            )
        answers = None
        if self._recorded is not None:
            answers = [self.stage.weight(self.stage.recorded_answer(self._recorded, row))]
        columns, _ = self.stage.weighed([texts], self._embed, answers)
        model = self._filter.model
        return Prediction(0, float(model.weights.probabilities(columns)[0]), model.threshold)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        """A conversation is there once for each of its attributes: each text is embedded once."""
        import numpy as np

        return np.concatenate([self._vector(text) for text in texts])

    def _embedder(self) -> Embedder:
        loaded = embedder(self._embeddings)
        if loaded.digest != self._filter.digest:
            raise DataError(
                f"{self._embeddings}: found an embedding model with the digest {loaded.digest}, expected the one that the filter in "
                f"{self._filter.folder} was trained with, {self._filter.digest}. Pass that one with -M embeddings=, or train again."
            )
        return loaded
