"""The texts of a row -> numbers that a linear model can weigh, in blocks; these and labels -> weights and a threshold.

attribute   the attribute's embedding: some attributes matter for most prompts
product     the elementwise product with the prompt's embedding: where they agree
cosine      the sum of that product

The penalty and the threshold come from rows that were held out: inner folds by user, of the training rows only. The penalty
is the one with the smallest log loss there, the threshold the one with the highest F1. No random numbers are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...common.embeddings import Vectors
from ..relevance import SCORES
from .splits import Fold, Groups, by_user

Features = Any
"""An array of float64, shape (rows, columns)."""

STRENGTHS = (0.1, 1.0, 10.0)
"""Values of scikit-learn's `C`: the smaller, the stronger the penalty."""

ITERATIONS = 10_000


@dataclass(frozen=True)
class Model:
    """A logistic regression.

    Attributes:
        weights: one per column of the features, shape (columns,).
        bias: added to their weighted sum; the logistic function of it is the probability.
        threshold: the probability from which on a row gets the label that is sought.
    """

    weights: Any
    bias: float
    strength: float
    threshold: float = 0.5

    def probabilities(self, features: Features) -> Any:
        """Of the label that is sought, shape (rows,), in [0, 1]."""
        import numpy as np

        return 1 / (1 + np.exp(-(features @ self.weights + self.bias)))


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


def columns_of(dimensions: int) -> dict[str, slice]:
    """Block -> its columns.

    Args:
        dimensions: of an embedding.
    """
    return {
        "attribute": slice(0, dimensions),
        "product": slice(dimensions, 2 * dimensions),
        "cosine": slice(2 * dimensions, 2 * dimensions + 1),
    }


def features_of(attributes: Vectors, prompts: Vectors) -> Features:
    """All blocks beside each other, of the unit vectors of each row's texts."""
    import numpy as np

    product = attributes * prompts
    return np.concatenate([attributes, product, product.sum(axis=1, keepdims=True)], axis=1)


def scaled(features: Features, blocks: Mapping[str, slice]) -> tuple[Any, Any]:
    """(mean of each column, factor of each column) that center the columns and give every block a mean squared length of 1.

    So the penalty of the regression weighs blocks alike, however many columns they have. A constant block gets a factor of 1.
    """
    import numpy as np

    means, factors = features.mean(axis=0), np.ones(features.shape[1])
    for columns in blocks.values():
        spread = ((features[:, columns] - means[columns]) ** 2).sum(axis=1).mean()
        if spread > 0:
            factors[columns] = spread**-0.5
    return means, factors


def train(features: Features, groups: Groups, columns: Mapping[str, slice]) -> Model:
    import numpy as np
    from sklearn.metrics import log_loss
    from threadpoolctl import threadpool_limits

    inner = by_user(groups)
    labels = np.array(groups.labels)
    # More threads wait for each other on matrices of this size; and one adds up in the same order everywhere.
    with threadpool_limits(1):
        held_out = {strength: _held_out(features, labels, inner, columns, strength) for strength in STRENGTHS}
        best = min(STRENGTHS, key=lambda strength: log_loss(labels, held_out[strength]))
        return replace(fit(features, labels, columns, best), threshold=threshold(labels, held_out[best]))


def fit(features: Features, labels: Any, columns: Mapping[str, slice], strength: float) -> Model:
    """The weights of a logistic regression, for features as they are: the scaling is within them."""
    from sklearn.linear_model import LogisticRegression

    means, factors = scaled(features, columns)
    fitted = LogisticRegression(C=strength, max_iter=ITERATIONS).fit((features - means) * factors, labels)
    weights = fitted.coef_[0] * factors
    return Model(weights, float(fitted.intercept_[0] - means @ weights), strength)


def threshold(labels: Any, probabilities: Any) -> float:
    """The middle between the two probabilities at which a cut gives the highest F1; of several such cuts, the one that selects least.

    0 if selecting everything is best.

    Args:
        labels: what people said, at least one of them the label that is sought.
        probabilities: of rows that were held out.
    """
    import numpy as np

    order = np.argsort(-probabilities, kind="stable")
    ranked, hits = probabilities[order], np.cumsum(np.asarray(labels)[order])
    selected = np.arange(1, len(ranked) + 1)
    f1 = 2 * hits / (selected + hits[-1])
    can_cut = np.append(ranked[:-1] > ranked[1:], True)
    last = int(np.argmax(np.where(can_cut, f1, -1)))
    return 0.0 if last == len(ranked) - 1 else float((ranked[last] + ranked[last + 1]) / 2)


def _held_out(
    features: Features, labels: Any, folds: Sequence[Fold], columns: Mapping[str, slice], strength: float
) -> Any:
    """The probability of every row, by weights that were fitted without its user."""
    import numpy as np

    probabilities = np.empty(len(labels))
    for fold in folds:
        fitted = fit(features[fold.train], labels[fold.train], columns, strength)
        probabilities[fold.test] = fitted.probabilities(features[fold.test])
    return probabilities
