"""Which cases people are asked about, so that their votes narrow a judge's win rate most: a random sample with known, unequal chances.

A judge's exam says how often a verdict of so much certainty is right. Where that is near one half, a vote of people tells most, so a case
is drawn with a probability in proportion to the standard deviation of what is expected (active statistical inference: Zrnic and Candes 2024,
ICML, arXiv 2403.03208). A part of it is the same for all, in case the judge is surer than it should be.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

BINS = 5
"""Parts of an exam by certainty, of equal size where certainties differ."""

PULL = 4
"""Cases with the accuracy of the whole exam that count beside those of each part."""

EVEN = 0.2
"""The part of the probabilities that is the same for all."""


def rates_right(certainty: Sequence[float], exam: Sequence[float], right: Sequence[float]) -> list[float]:
    """The share of verdicts that are right, in (0, 1), by how certain they are.

    Args:
        certainty: of the verdicts.
        exam, right: certainty of each verdict of the exam, and whether it is right: 1, 0, or one half for none.
    """
    import numpy as np  # the extra `report` brings it

    edges = np.unique(np.quantile(exam, np.linspace(0, 1, BINS + 1)[1:-1]))
    part = np.searchsorted(edges, exam, side="right")
    count = np.bincount(part, minlength=len(edges) + 1) + PULL
    rates = (np.bincount(part, right, len(edges) + 1) + PULL * np.mean(right)) / count
    return list(map(float, rates[np.searchsorted(edges, certainty, side="right")]))


def draw(
    rates: Sequence[float], certainty: Sequence[float], users: Sequence[str], count: int, seed: str
) -> tuple[list[int], list[float]]:
    """(the places of the cases that are drawn, the probability of each case).

    The order in which they are drawn has each user's cases together, by certainty: of each user, and of their surer and less sure cases,
    there are about as many as the probabilities sum to.

    Args:
        rates: see `rates_right`.
        users: of each case; they come in a random order.
        count: how many are drawn, at most all.
    """
    import numpy as np

    spread = np.sqrt(np.array(rates, float) * (1 - np.array(rates, float)))
    likely = chances(list((1 - EVEN) * spread + EVEN * spread.mean()), count)
    names = sorted(set(users))
    rng = random.Random(seed)
    rng.shuffle(names)
    turn = {name: number for number, name in enumerate(names)}
    order = sorted(range(len(users)), key=lambda place: (turn[users[place]], certainty[place], place))
    return systematic(likely, order, rng.random()), likely


def chances(sizes: Sequence[float], count: int) -> list[float]:
    """The probability of each case to be drawn: in proportion to its size and at most 1. They sum to `count`.

    Args:
        sizes: above 0.
        count: at most the number of cases.
    """
    import numpy as np

    of, certain = np.array(sizes, float), np.zeros(len(sizes), bool)
    while True:
        rest = of[~certain].sum()
        found = np.where(certain, 1.0, of * (count - certain.sum()) / rest if rest else 1.0)
        if not (found[~certain] > 1).any():
            return list(map(float, found))
        certain |= found >= 1


def systematic(likely: Sequence[float], order: Sequence[int], start: float) -> list[int]:
    """The places that are drawn: laid out in an order, each as long as its probability, those that hold start, start + 1, ...

    Args:
        start: random, in [0, 1).
    """
    found, reached = [], 0.0
    for place in order:
        reached += likely[place]
        if reached > start:
            found.append(place)
            start += 1
    return found
