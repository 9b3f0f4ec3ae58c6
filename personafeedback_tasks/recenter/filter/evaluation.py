"""Rows -> how well a filter does on users, and on users and prompts, that it has not seen; beside constant answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...common.statistics import Estimate, estimate, estimate_of
from ...engine.outcome import Outcome
from ...replies.words import NO, YES
from ..relevance import RELEVANCE, target
from ..rows import Relevance
from .features import Features
from .model import of_rows
from .splits import Fold, Groups

CONSTANT = {"always_yes": YES, "always_no": NO}
"""Baselines: name -> what they say of every row."""


@dataclass(frozen=True)
class HeldOut:
    """What is predicted of a row by a model that was trained without it.

    Attributes:
        fold: which model, from 1 on.
        probability: that the row is relevant, in [0, 1].
        threshold: of that model; YES from there on.
    """

    fold: int
    probability: float
    threshold: float

    @property
    def answer(self) -> str:
        return YES if self.probability >= self.threshold else NO


def held_out(
    found: Features,
    groups: Groups,
    folds: Sequence[Fold],
    of: Mapping[str, slice],
    progress: Callable[[str], None] = lambda text: None,
) -> list[HeldOut]:
    """One prediction per row, each by the model of the one fold that tests it. Weights, penalty and threshold are that fold's own.

    Args:
        found, groups: of all rows.
        of: the blocks of the features.
        progress: told which fold is trained.
    """
    made: dict[int, HeldOut] = {}
    for number, fold in enumerate(folds, start=1):
        progress(f"fold {number} of {len(folds)}")
        model = of_rows(found, groups, fold.train, of)
        for index, probability in zip(fold.test, model.weights.probabilities(found[fold.test]), strict=True):
            made[int(index)] = HeldOut(number, float(probability), model.threshold)
    return [made[index] for index in range(len(groups.users))]


def scores(rows: Sequence[Relevance], answers: Sequence[str]) -> dict[str, Estimate]:
    """Accuracy and the corpus scores of `recenter_relevance`, with standard errors over users and prompts, which share rows. How much
    another training set would change the filter is not in them.

    Args:
        answers: YES or NO, one per row.
    """
    users, prompts = [row.user_id for row in rows], [row.prompt for row in rows]
    judged = [Outcome(targets=(target(row),), answers=(answer,)) for row, answer in zip(rows, answers, strict=True)]
    right = [float(one.targets == one.answers) for one in judged]
    found = {
        name: estimate_of(measure, judged, users, RELEVANCE.report.line(name).ends, prompts)
        for name, measure in RELEVANCE.corpus.items()
    }
    return {"acc": estimate(right, users, also=prompts), **found}
