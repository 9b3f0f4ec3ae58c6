"""Rows -> how well a filter does on users, and on users and prompts, that it has not seen; beside constant answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...common.jackknife import estimate_of
from ...common.statistics import Estimate, estimate
from ...engine.outcome import Outcome
from ..relevance import RELEVANCE, SCORES
from ..rows import Relevance
from .features import Features
from .model import train
from .splits import Fold, Groups, taken


@dataclass(frozen=True)
class Prediction:
    """What a model says of a row.

    Attributes:
        fold: which model, from 1 on, of those that were trained without the row; 0 for the model of all rows.
        probability: that people find the attribute relevant, in [0, 1].
        threshold: of that model; it says YES from there on.
    """

    fold: int
    probability: float
    threshold: float

    @property
    def found(self) -> bool:
        return self.probability >= self.threshold

    @property
    def answer(self) -> str:
        return SCORES.label(self.found)


def held_out(
    features: Features,
    groups: Groups,
    folds: Sequence[Fold],
    columns: Mapping[str, slice],
    progress: Callable[[str], None] = lambda text: None,
) -> list[Prediction]:
    """One prediction per row, each by the model of the one fold that tests it. Weights, penalty and threshold are that fold's own."""
    made: dict[int, Prediction] = {}
    for number, fold in enumerate(folds, start=1):
        progress(f"fold {number} of {len(folds)}")
        model = train(features[fold.train], taken(groups, fold.train), columns)
        for index, probability in zip(fold.test, model.weights.probabilities(features[fold.test]), strict=True):
            made[int(index)] = Prediction(number, float(probability), model.threshold)
    return [made[index] for index in range(len(groups.users))]


def scores(rows: Sequence[Relevance], answers: Sequence[str]) -> dict[str, Estimate]:
    """Accuracy and the corpus scores of `recenter_relevance`, with standard errors over users and prompts. How much another training
    set would change the filter is not in them.
    """
    users, prompts = [row.user_id for row in rows], [row.prompt for row in rows]
    outcomes = [
        Outcome(targets=(SCORES.target(row),), answers=(answer,), cell=row.cell)
        for row, answer in zip(rows, answers, strict=True)
    ]
    right = [float(outcome.targets == outcome.answers) for outcome in outcomes]
    corpus = {
        name: estimate_of(measure, outcomes, users, RELEVANCE.report.line(name).ends, prompts)
        for name, measure in RELEVANCE.corpus.items()
    }
    return {"acc": estimate(right, users, also=prompts), **corpus}
