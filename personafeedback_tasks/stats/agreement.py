"""How far people agree with each other: coefficients that are 1 where all agree and 0 where chance would explain it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Literal

from ..common.errors import require

RowVotes = Sequence[Hashable]
"""What each person said of one row."""

Level = Literal["nominal", "ordinal", "interval"]


def agreed(votes: RowVotes) -> float:
    """The share of the pairs of people who say the same of a row, P in what follows. It needs two votes."""
    people = len(votes)
    return sum(n * (n - 1) for n in Counter(votes).values()) / (people * (people - 1))


def randolph(rows: Sequence[RowVotes], categories: int) -> float:
    """Randolph's free-marginal kappa: (P - 1 / k) / (1 - 1 / k), where each of k categories is as likely by chance."""
    # Of two categories it is 2 P - 1: what Fleiss' kappa comes to on average where each row's votes are coded by a side
    # drawn at random.
    by_chance = 1 / categories
    return (math.fsum(map(agreed, rows)) / len(rows) - by_chance) / (1 - by_chance)


def alpha(rows: Sequence[RowVotes], values: Sequence[Hashable], level: Level) -> float:
    """Krippendorff's alpha of rows of two or more votes; `values`: all votes in order. nan if all votes are equal."""
    require("krippendorff", extra="report")
    import krippendorff

    rows = [*map(tuple, rows)]
    counts = {votes: [votes.count(value) for value in values] for votes in set(rows)}  # few rows differ
    if len({vote for votes in counts for vote in votes}) < 2:
        return math.nan
    table = [counts[votes] for votes in rows]
    # Steps of a scale are known by their places, which are equally far apart.
    places = list(range(len(values)))
    return float(krippendorff.alpha(value_counts=table, value_domain=places, level_of_measurement=level))
