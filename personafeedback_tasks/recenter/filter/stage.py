"""What a filter of each stage is: the rows that it is trained on, what it says of them, and which texts it weighs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from ...common.text import same_text
from ...engine.benchmark import Benchmark
from ..extraction import EXTRACTION, user_turns
from ..extraction import SCORES as OF_EXTRACTION
from ..extraction import texts_of as extraction_texts
from ..labels import TwoLabels
from ..relevance import RELEVANCE
from ..relevance import SCORES as OF_RELEVANCE
from ..relevance import texts_of as relevance_texts
from ..rows import Extraction, JudgedRow, Relevance
from . import features as weighed_texts
from .splits import BY_BOTH, EVALUATIONS, Groups


@dataclass(frozen=True)
class FilterStage:
    """A stage that a filter can be trained for.

    Attributes:
        row: what it is trained on, those with a judgment.
        benchmark: the task that asks the filter about such a row.
        labels: what the filter says; its threshold is that of the highest F1 of the label that is sought.
        texts: of a row, those that decide what the filter says of it.
        texts_of: the same from a prompt of the task. Raises DataError for another prompt.
        blocks: of the features -> its number of columns; None for that of the embeddings.
        features: the vectors of each row's texts -> block -> array of shape (rows, columns).
        prompt: of a row, where users share prompts; None where they share nothing.
        score_names: metric -> its column in the card. The first ones are printed.
        found, others: what rows are called that people gave the label that is sought, and the other one.
        drops: whether a chain goes on without what the filter finds (what people reject), or without the rest (what is not relevant).
        asks, weighs: what the filter says, and what of the texts it weighs; for the card.
    """

    row: type[JudgedRow]
    benchmark: Benchmark
    labels: TwoLabels
    texts: Callable[[Any], tuple[str, ...]]
    texts_of: Callable[[str], tuple[str, ...]]
    blocks: Mapping[str, int | None]
    features: Callable[[Sequence[Any]], dict[str, Any]]
    prompt: Callable[[Any], str] | None
    score_names: Mapping[str, str]
    found: str
    others: str
    drops: bool
    asks: str
    weighs: str

    @property
    def name(self) -> str:
        return self.row.stage

    @property
    def judge(self) -> str:
        """Its name as a judge: `--model personafeedback/NAME`."""
        return f"{self.name}-filter"

    @property
    def command(self) -> str:
        """What trains it."""
        return f"personafeedback recenter train --stage {self.name}"

    @property
    def evaluations(self) -> dict[str, Any]:
        """Name -> how rows are held out: by user, and by user and prompt where users share prompts."""
        return {name: split for name, split in EVALUATIONS.items() if self.prompt or name != BY_BOTH}

    @property
    def constant(self) -> dict[str, str]:
        """Baselines: name -> what they say of every row."""
        return {f"always_{label.lower()}": label for label in self.labels.labels}

    def groups(self, rows: Sequence[Any]) -> Groups:
        prompts = [same_text(self.prompt(row)) if self.prompt else "" for row in rows]
        return Groups([row.user_id for row in rows], prompts, [bool(row.judgment) for row in rows])

    def weighed(
        self, texts: Iterable[tuple[str, ...]], embed: Callable[[Sequence[str]], Any]
    ) -> tuple[weighed_texts.Features, int]:
        """(the features of each row, the dimensions of an embedding).

        Args:
            texts: those of each row.
            embed: see `Embedder.embed`.
        """
        of_rows = list(texts)
        vectors = embed([text for row in of_rows for text in row])
        ends = list(accumulate(map(len, of_rows), initial=0))
        blocks = self.features([vectors[start:end] for start, end in pairwise(ends)])
        return weighed_texts.joined(blocks), vectors.shape[1]


_SCORES = {"f1": "F1, %", "kappa": "kappa"}
_MORE = {"precision": "precision, %", "recall": "recall, %"}

STAGES = {
    stage.name: stage
    for stage in (
        FilterStage(
            row=Relevance,
            benchmark=RELEVANCE,
            labels=OF_RELEVANCE,
            texts=lambda row: (row.attribute, row.prompt),
            texts_of=relevance_texts,
            blocks={"attribute": None, "product": None, "cosine": 1},
            features=weighed_texts.of_relevance,
            prompt=lambda row: row.prompt,
            score_names={**_SCORES, "over_selection": "over-selection", **_MORE, "selection_rate": "selected, %", "acc": "accuracy, %"},
            found="relevant",
            others="irrelevant",
            drops=False,
            asks="Says of an attribute of a user and a new prompt whether the attribute should change the reply in any way: YES or NO.",
            weighs="the attribute's embedding, its elementwise product with the prompt's, their cosine",
        ),
        FilterStage(
            row=Extraction,
            benchmark=EXTRACTION,
            labels=OF_EXTRACTION,
            texts=lambda row: (row.attribute, row.reason, *user_turns(row.transcript)),
            texts_of=extraction_texts,
            blocks={"attribute": None, "reason": None, "turns": None, "product": None, "cosines": 3},
            features=weighed_texts.of_extraction,
            prompt=None,
            score_names={**_SCORES, **_MORE, "selection_rate": "called problematic, %", "acc": "accuracy, %"},
            found="problematic",
            others="accepted",
            drops=True,
            asks="Says of an attribute that was extracted from a conversation for some reason whether people would find it wrong or uncertain: PROBLEMATIC or ACCEPT.",
            weighs=f"the embeddings of the attribute, of the reason and of the {weighed_texts.NEAREST} turns of the user that are nearest to the attribute (their mean), the elementwise product of the first and the last, and three cosines: attribute and reason, attribute and its nearest turn, reason and its nearest turn",
        ),
    )
}  # fmt: skip
"""Name -> stage."""
