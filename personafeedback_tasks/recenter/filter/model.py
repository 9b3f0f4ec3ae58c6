"""Texts of a row -> features; features and labels -> a logistic regression and a threshold, without random numbers.

Features: the attribute's embedding, its product with the prompt's, the cosine. Inner folds by user set the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...common.embeddings import Vectors
from ...common.errors import DataError
from ...common.text import same_text
from ..relevance import RELEVANCE
from ..rows import Relevance

Features = Any
"""An array of float64, shape (rows, columns)."""

FOLDS = 5
"""At most: of users, and of prompts. Fewer where there are fewer users or prompts."""

STRENGTHS = (0.1, 1.0, 10.0)
"""Values of scikit-learn's `C`: the smaller, the stronger the penalty."""

ITERATIONS = 10_000

COSINE = 4.0
"""Factor of the cosine, so that the penalty weighs it like the other features."""


@dataclass(frozen=True)
class Model:
    """A logistic regression.

    Attributes:
        weights: shape (columns,).
        strength: scikit-learn's `C` that inner folds chose, by log loss.
        threshold: probability from which on a row is called relevant: inner folds' highest F1.
    """

    weights: Any
    bias: float
    strength: float
    threshold: float

    def probabilities(self, features: Features) -> Any:
        """Of being relevant, shape (rows,), in [0, 1]."""
        import numpy as np

        return 1 / (1 + np.exp(-(features @ self.weights + self.bias)))


@dataclass(frozen=True)
class Prediction:
    """A model's prediction for a row.

    Attributes:
        fold: number from 1 of the model that was trained without the row; 0 for the model of all rows.
        probability: that people find the attribute relevant, in [0, 1].
    """

    fold: int
    probability: float
    threshold: float

    @property
    def found(self) -> bool:
        return self.probability >= self.threshold

    @property
    def answer(self) -> str:
        return RELEVANCE.label(self.found)


class Groups(NamedTuple):
    """Users, prompts (case and white space folded) and people's labels: arrays of shape (rows,)."""

    users: Any
    prompts: Any
    labels: Any

    def of(self, rows: Any) -> Groups:
        """The groups of some rows, by their numbers."""
        return Groups(*(values[rows] for values in self))


class Fold(NamedTuple):
    """Row numbers, as arrays."""

    train: Any
    test: Any


def groups_of(rows: Sequence[Relevance]) -> Groups:
    import numpy as np

    values = zip(*((row.user_id, same_text(row.prompt), bool(row.judgment)) for row in rows), strict=True)
    return Groups(*map(np.array, values))


def by_user(groups: Groups) -> list[Fold]:
    """Folds that test every row once, by a model that was trained on other users' rows."""
    return list(_folds(groups.users))


def by_user_and_prompt(groups: Groups) -> list[Fold]:
    """Folds that test every row once, by a model that has seen neither its user nor its prompt."""
    import numpy as np

    folds = [
        Fold(np.intersect1d(users.train, prompts.train), np.intersect1d(users.test, prompts.test))
        for users in _folds(groups.users)
        for prompts in _folds(groups.prompts)
    ]
    return [fold for fold in folds if len(fold.test)]


# Pairs are never split at random. Rows of one user share attributes, and rows of one prompt share the prompt: a random split
# would test a model on what it has been trained on.
EVALUATIONS = {"by_user": by_user, "by_user_and_prompt": by_user_and_prompt}


def _folds(names: Any) -> Iterator[Fold]:
    from sklearn.model_selection import GroupKFold

    for train, test in GroupKFold(min(FOLDS, len(set(names)))).split(names, groups=names):
        yield Fold(train, test)


def check(groups: Groups, source: str) -> None:
    """Raise DataError if a model of an evaluation, or of its inner folds, would be trained on rows of one label."""
    few = (
        f"{source}: found {len(groups.labels):,} rows of {len(set(groups.users))} users and {len(set(groups.prompts))} prompts, too few to "
        "test on users and prompts that were held out"
    )
    if len(set(groups.users)) < 3 or len(set(groups.prompts)) < 2:
        raise DataError(f"{few}: expected at least 3 users and 2 prompts. Add rows.")
    for folds in EVALUATIONS.values():
        for fold in folds(groups):
            inside = groups.of(fold.train)
            several = len(set(inside.users)) > 1
            if not several or any(len(set(inside.labels[inner.train])) < 2 for inner in by_user(inside)):
                raise DataError(
                    f"{few}: without {len(set(groups.users[fold.test]))} of the users, expected relevant and irrelevant rows of several "
                    "others to train on, found rows of one kind. Add rows of more users."
                )


def features_of(attributes: Vectors, prompts: Vectors) -> Features:
    """The features of rows, from the unit vectors of their texts.

    Each part is scaled to a length of about 1, so that the penalty weighs them alike: the product of two unit
    vectors has a length of about 1 / sqrt(dimensions), and cosines differ by about a quarter.
    """
    import numpy as np

    # some attributes matter for most prompts; others where both texts agree
    product = attributes * prompts
    cosine = product.sum(axis=1, keepdims=True)
    return np.concatenate([attributes, product * attributes.shape[1] ** 0.5, COSINE * cosine], axis=1)


def train(features: Features, groups: Groups) -> Model:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.model_selection import cross_val_predict
    from threadpoolctl import threadpool_limits

    inner, labels = by_user(groups), groups.labels
    models = [LogisticRegression(C=strength, max_iter=ITERATIONS) for strength in STRENGTHS]
    # More threads wait for each other on matrices of this size; and one adds up in the same order everywhere.
    with threadpool_limits(1):
        held_out = [
            cross_val_predict(model, features, labels, cv=inner, method="predict_proba")[:, 1] for model in models
        ]
        losses = [log_loss(labels, probabilities) for probabilities in held_out]
        best = losses.index(min(losses))
        fitted = models[best].fit(features, labels)
    return Model(fitted.coef_[0], float(fitted.intercept_[0]), STRENGTHS[best], threshold(labels, held_out[best]))


def threshold(labels: Any, probabilities: Any) -> float:
    """The probability of held-out rows from which on F1 is highest; of several, the one that selects least."""
    import numpy as np
    from sklearn.metrics import precision_recall_curve

    precision, recall, cuts = precision_recall_curve(labels, probabilities)  # and one more of each, at no cut
    f1 = 2 * precision * recall / np.maximum(precision + recall, np.finfo(float).tiny)
    return float(max(zip(f1, cuts, strict=False))[1])
