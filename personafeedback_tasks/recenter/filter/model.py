"""Texts of a row -> features; features and labels -> a logistic regression and a threshold, without random numbers.

Features: the attribute's embedding, its product with the prompt's, the cosine. Inner folds by user set the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...common.embeddings import Vectors
from ..relevance import RELEVANCE

Array = Any
"""A numpy array; features are float64 of shape (rows, columns), labels are bool."""

Folds = list[tuple[Array, Array]]
"""(numbers of the rows to train on, numbers of those to test) of each fold."""

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

    weights: Array
    bias: float
    strength: float
    threshold: float

    def probabilities(self, features: Array) -> Array:
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


def evaluations(users: Array, prompts: Array) -> dict[str, Folds]:
    """Name -> folds that test every row once, by a model that has not seen its user, or neither its user nor its prompt.

    Pairs are never split at random. Rows of one user share attributes, and rows of one prompt share the prompt: a random
    split would test a model on what it has been trained on.
    """
    import numpy as np

    by_user, by_prompt = _folds(users), _folds(prompts)
    by_both = [
        (np.intersect1d(own, of_prompts), np.intersect1d(tested, tested_prompts))
        for own, tested in by_user
        for of_prompts, tested_prompts in by_prompt
    ]
    return {"by_user": by_user, "by_user_and_prompt": [(own, tested) for own, tested in by_both if len(tested)]}


def _folds(groups: Array) -> Folds:
    from sklearn.model_selection import GroupKFold

    return list(GroupKFold(min(FOLDS, len(set(groups)))).split(groups, groups=groups))


def features_of(attributes: Vectors, prompts: Vectors) -> Array:
    """The features of rows, from the unit vectors of their texts.

    Each part is scaled to a length of about 1, so that the penalty weighs them alike: the product of two unit
    vectors has a length of about 1 / sqrt(dimensions), and cosines differ by about a quarter.
    """
    import numpy as np

    # some attributes matter for most prompts; others where both texts agree
    product = attributes * prompts
    cosine = product.sum(axis=1, keepdims=True)
    return np.concatenate([attributes, product * attributes.shape[1] ** 0.5, COSINE * cosine], axis=1)


def train(features: Array, labels: Array, users: Array) -> Model:
    """ValueError (scikit-learn's) with a single user, or with folds of which one has rows of one label only."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.model_selection import cross_val_predict
    from threadpoolctl import threadpool_limits

    inner = _folds(users)
    models = [LogisticRegression(C=strength, max_iter=ITERATIONS) for strength in STRENGTHS]
    # More threads wait for each other on matrices of this size; and one adds up in the same order everywhere.
    with threadpool_limits(1):
        probabilities = [
            cross_val_predict(model, features, labels, cv=inner, method="predict_proba")[:, 1] for model in models
        ]
        losses = [log_loss(labels, of_model) for of_model in probabilities]
        best = losses.index(min(losses))
        fitted = models[best].fit(features, labels)
    return Model(fitted.coef_[0], float(fitted.intercept_[0]), STRENGTHS[best], threshold(labels, probabilities[best]))


def held_out(features: Array, labels: Array, users: Array, folds: Folds) -> list[Prediction]:
    """One prediction per row, by the model of the fold that tests it, with that fold's own penalty and threshold."""
    made: dict[int, Prediction] = {}
    for number, (own, tested) in enumerate(folds, start=1):
        model = train(features[own], labels[own], users[own])
        for index, probability in zip(tested, model.probabilities(features[tested]), strict=True):
            made[int(index)] = Prediction(number, float(probability), model.threshold)
    return [made[index] for index in range(len(labels))]


def threshold(labels: Array, probabilities: Array) -> float:
    """The probability of held-out rows from which on F1 is highest; of several, the one that selects least."""
    import numpy as np
    from sklearn.metrics import precision_recall_curve

    precision, recall, cuts = precision_recall_curve(labels, probabilities)  # and one more of each, at no cut
    f1 = 2 * precision * recall / np.maximum(precision + recall, np.finfo(float).tiny)
    return float(max(zip(f1, cuts, strict=False))[1])
