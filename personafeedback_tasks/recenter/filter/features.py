"""The texts of a row -> numbers that a linear model can weigh, in blocks.

relevance    attribute   the attribute's embedding: some attributes matter for most prompts
             product     the elementwise product with the prompt's embedding: where they agree
             cosine      the sum of that product
extraction   attribute   the attribute's embedding: some kinds are rejected more often
             reason      that of the reason
             turns       the mean of the user's turns that are nearest to the attribute
             product     the elementwise product of attribute and turns
             cosines     of attribute and reason, of the attribute and its nearest turn, of the reason and its nearest turn
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from ...common.embeddings import Vectors

Features = Any
"""An array of float64, shape (rows, columns)."""

NEAREST = 3
"""Turns of a user that stand for the conversation."""


def columns_of(blocks: Mapping[str, int | None], dimensions: int) -> dict[str, slice]:
    """Block -> its columns.

    Args:
        blocks: name -> number of columns, None for `dimensions`.
    """
    widths = {name: dimensions if width is None else width for name, width in blocks.items()}
    ends = list(accumulate(widths.values(), initial=0))
    return dict(zip(widths, map(slice, ends, ends[1:]), strict=True))


def of_relevance(rows: Sequence[Vectors]) -> dict[str, Any]:
    """
    Args:
        rows: of each, the unit vectors of its attribute and its prompt.
    """
    import numpy as np

    attributes, prompts = np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows])
    product = attributes * prompts
    return {"attribute": attributes, "product": product, "cosine": product.sum(axis=1, keepdims=True)}


def of_extraction(rows: Sequence[Vectors]) -> dict[str, Any]:
    """
    Args:
        rows: of each, the unit vectors of its attribute, its reason, and each turn of the user.
    """
    import numpy as np

    attributes, reasons = np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows])
    near, cosines = [], []
    for attribute, reason, turns in zip(attributes, reasons, (row[2:] for row in rows), strict=True):
        to_attribute = turns @ attribute
        near.append(turns[np.argsort(-to_attribute, kind="stable")[:NEAREST]].mean(axis=0))
        cosines.append((attribute @ reason, to_attribute.max(), (turns @ reason).max()))
    turns = np.stack(near)
    return {
        "attribute": attributes, "reason": reasons, "turns": turns, "product": attributes * turns, "cosines": np.array(cosines),
    }  # fmt: skip


def joined(blocks: Mapping[str, Any]) -> Features:
    """All blocks beside each other."""
    import numpy as np

    return np.concatenate(list(blocks.values()), axis=1)


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
