"""Texts of a row -> features; features and labels -> a logistic regression with a threshold, without random numbers.

Features: the attribute's embedding, its product with the prompt's, the cosine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .embeddings import Vectors

Array = Any
"""A numpy array; features are float64 of shape (rows, columns), labels are bool."""

FOLDS = 5
"""Of users, at most; fewer where there are fewer users."""

ITERATIONS = 10_000

COSINE = 4.0
"""Factor of the cosine, so that the penalty weighs it like the other features."""


@dataclass(frozen=True)
class Model:
    """A logistic regression."""

    weights: Array  # shape (columns,)
    bias: float
    threshold: float  # lowest probability of a row that is called relevant

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
    """scikit-learn's default penalty, and the threshold with the highest mean F1 on folds of held-out users.

    Raises:
        ValueError: scikit-learn's, with a single user or with a fold whose rows have one label only.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import TunedThresholdClassifierCV
    from threadpoolctl import threadpool_limits

    model = LogisticRegression(max_iter=ITERATIONS)
    tuned = TunedThresholdClassifierCV(model, scoring="f1", cv=folds(users))
    with threadpool_limits(1):  # the same sums on every machine, and no slower on matrices of this size
        tuned.fit(features, labels)
    return Model(tuned.estimator_.coef_[0], float(tuned.estimator_.intercept_[0]), float(tuned.best_threshold_))


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
