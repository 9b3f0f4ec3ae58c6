"""Rows -> how well a filter does on users, and on users and prompts, that it has not seen; beside constant answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...common.jackknife import estimate_of
from ...common.statistics import Estimate, estimate
from ...engine.outcome import Outcome
from ..rows import JudgedRow
from .features import Features
from .model import train
from .splits import Fold, Groups, taken
from .stage import FilterStage


@dataclass(frozen=True)
class Prediction:
    """What a model says of a row.

    Attributes:
        fold: which model, from 1 on, of those that were trained without the row; 0 for the model of all rows.
        probability: of the label that is sought, in [0, 1].
        threshold: of that model; it says that label from there on.
    """

    fold: int
    probability: float
    threshold: float

    @property
    def found(self) -> bool:
        return self.probability >= self.threshold


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


def scores(stage: FilterStage, rows: Sequence[JudgedRow], answers: Sequence[str]) -> dict[str, Estimate]:
    """Accuracy and the corpus scores of the stage's task, with standard errors over users, and over prompts where users share them. How
    much another training set would change the filter is not in them.
    """
    users, prompts = [row.user_id for row in rows], [stage.prompt(row) for row in rows] if stage.prompt else None
    outcomes = [
        Outcome(targets=(stage.labels.label(row.judgment),), answers=(answer,), cell=row.cell)
        for row, answer in zip(rows, answers, strict=True)
    ]
    right = [float(outcome.targets == outcome.answers) for outcome in outcomes]
    corpus = {
        name: estimate_of(measure, outcomes, users, stage.benchmark.report.line(name).ends, prompts)
        for name, measure in stage.benchmark.corpus.items()
    }
    return {"acc": estimate(right, users, also=prompts), **corpus}
