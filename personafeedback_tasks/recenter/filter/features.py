"""A pair of attribute and prompt -> numbers that a linear model can weigh.

Three blocks, and a fourth where a language model's recorded answers are given:

    attribute   the attribute's embedding: some attributes matter for most prompts
    product     the elementwise product of both embeddings: where they agree
    cosine      the sum of that product
    answer      1 for YES, -1 for NO, 0 for an unreadable reply
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from ...common.embeddings import Vectors
from ...replies.words import NO, YES

Features = Any
"""An array of float64, shape (pairs, columns)."""

_ANSWERS = {YES: 1.0, NO: -1.0}


def blocks(dimensions: int, with_answers: bool) -> dict[str, slice]:
    """Block -> its columns."""
    widths = {"attribute": dimensions, "product": dimensions, "cosine": 1, **({"answer": 1} if with_answers else {})}
    ends = list(accumulate(widths.values(), initial=0))
    return dict(zip(widths, map(slice, ends, ends[1:]), strict=True))


def features(attributes: Vectors, prompts: Vectors, answers: Sequence[str] | None = None) -> Features:
    """
    Args:
        attributes, prompts: unit vectors of each pair.
        answers: what a language model said of each pair, as `read_yes_no` reads it; None if the filter knows of none.
    """
    import numpy as np

    product = attributes * prompts
    parts = [attributes, product, product.sum(axis=1, keepdims=True)]
    if answers is not None:
        parts.append(np.array([[_ANSWERS.get(answer, 0.0)] for answer in answers]))
    return np.concatenate(parts, axis=1)


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
