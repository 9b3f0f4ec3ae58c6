"""Texts of a row -> features; features and labels -> a logistic regression and a threshold, without random numbers.

Features: the attribute's embedding, its product with the prompt's, the cosine. Folds by user set the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .embeddings import Vectors

Array = Any
"""A numpy array; features are float64 of shape (rows, columns), labels are bool."""

FOLDS = 5
"""Of users, at most; fewer where there are fewer users."""

STRENGTHS = (0.1, 1.0, 10.0)
"""Values of scikit-learn's `C`: the smaller, the stronger the penalty."""

ITERATIONS = 10_000

COSINE = 4.0
"""Factor of the cosine, so that the penalty weighs it like the other features."""


@dataclass(frozen=True)
class Model:
    """A logistic regression."""

    weights: Array  # shape (columns,)
    bias: float
    strength: float  # scikit-learn's `C` that inner folds chose, by log loss
    threshold: float  # probability from which on a row is called relevant: inner folds' highest F1

    def probabilities(self, features: Array) -> Array:
        """Of being relevant, shape (rows,), in [0, 1]."""
        import numpy as np

        return 1 / (1 + np.exp(-(features @ self.weights + self.bias)))


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

    models = [LogisticRegression(C=strength, max_iter=ITERATIONS) for strength in STRENGTHS]
    # More threads wait for each other on matrices of this size; and one adds up in the same order everywhere.
    with threadpool_limits(1):
        probabilities = [
            cross_val_predict(model, features, labels, cv=folds(users), method="predict_proba")[:, 1]
            for model in models
        ]
        losses = [log_loss(labels, of_model) for of_model in probabilities]
        best = losses.index(min(losses))
        fitted = models[best].fit(features, labels)
    return Model(fitted.coef_[0], float(fitted.intercept_[0]), STRENGTHS[best], threshold(labels, probabilities[best]))


def held_out(features: Array, labels: Array, users: Array) -> tuple[Array, Array]:
    """(probability, threshold) of each row, by a model that has not seen its user."""
    import numpy as np

    probabilities, thresholds = np.empty(len(labels)), np.empty(len(labels))
    for own, tested in folds(users):
        model = train(features[own], labels[own], users[own])
        probabilities[tested], thresholds[tested] = model.probabilities(features[tested]), model.threshold
    return probabilities, thresholds


def folds(users: Array) -> list[tuple[Array, Array]]:
    """(numbers of the rows to train on, numbers of those to test) of each fold.

    Rows of one user share attributes: a random split would test a model on what it has been trained on.
    """
    from sklearn.model_selection import GroupKFold

    return list(GroupKFold(min(FOLDS, len(set(users)))).split(users, groups=users))


def threshold(labels: Array, probabilities: Array) -> float:
    """The probability of held-out rows from which on F1 is highest; of several, the one that selects least."""
    import numpy as np
    from sklearn.metrics import precision_recall_curve

    precision, recall, cuts = precision_recall_curve(labels, probabilities)  # and one more of each, at no cut
    f1 = 2 * precision * recall / np.maximum(precision + recall, np.finfo(float).tiny)
    return float(max(zip(f1, cuts, strict=False))[1])
