"""How people's rating of a personalized reply depends on its length and on whether it names what is known of the user."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..common.jackknife import estimate_of
from ..common.statistics import Estimate
from .chains import MadeChain
from .funnel import rated_replies
from .judgments import Judgments
from .mention import mentions
from .rows import SCALE

AT_EQUAL_LENGTH, DOUBLING, MENTION = "at_equal_length", "doubling", "mention"


@dataclass(frozen=True)
class RatingModel:
    """rating = a + b log2(length / length of the generic reply) + c mention, by least squares.

    Attributes:
        terms: AT_EQUAL_LENGTH, a: the rating of a reply as long as the generic one that names nothing outright; DOUBLING, b: what twice
            the length adds; MENTION, c: what naming an attribute adds. Jackknife errors over users, and over prompts where users share
            them. A term whose quantity is the same in all replies is not there.
        replies: how many are rated.
    """

    terms: Mapping[str, Estimate]
    replies: int


def model_of_rating(made: MadeChain, people: Judgments) -> RatingModel | None:
    """None where no more replies are rated than the model has terms, or all are as long as the generic one and alike in what they name."""
    rated = [(one, rating) for one, rating in rated_replies(made, people) if one.personalized and one.generic]
    columns = {
        DOUBLING: [math.log2(len(one.personalized) / len(one.generic)) for one, _ in rated],
        MENTION: [max(float(mentions(of, one.personalized)) for of in one.attributes) for one, _ in rated],
    }
    varied = {name: values for name, values in columns.items() if len(set(values)) > 1}
    if not varied or len(rated) <= len(varied) + 1:
        return None
    rows = [(rating, 1.0, *values) for (_, rating), *values in zip(rated, *varied.values(), strict=True)]
    users, prompts = [one.user_id for one, _ in rated], [one.prompt_id for one, _ in rated]
    ends = {AT_EQUAL_LENGTH: (float(SCALE[0]), float(SCALE[-1]))}
    terms = {
        name: estimate_of(lambda some, at=place: _coefficients(some)[at], rows, users, ends.get(name, (-math.inf, math.inf)), prompts)  # type: ignore[misc]
        for place, name in enumerate((AT_EQUAL_LENGTH, *varied))
    }  # fmt: skip
    return RatingModel(terms, len(rated))


def _coefficients(rows: Sequence[Sequence[float]]) -> list[float]:
    """Of least squares; nan where the rows do not determine them.

    Args:
        rows: the value, then what it may depend on.
    """
    import numpy as np  # the extra `report` brings it

    table = np.array(rows, dtype=float)
    found, _, rank, _ = np.linalg.lstsq(table[:, 1:], table[:, 0], rcond=None)
    return [float(value) if rank == table.shape[1] - 1 else math.nan for value in found]
