"""The texts of a row -> numbers that a linear model can weigh, in blocks.

attribute   the attribute's embedding: some attributes matter for most prompts
product     the elementwise product with the prompt's embedding: where they agree
cosine      the sum of that product
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...common.embeddings import Vectors

Features = Any
"""An array of float64, shape (rows, columns)."""


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
