"""Users whose true accuracies are known, drawn anew."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

SHAPES: dict[str, tuple[float, Callable[[np.random.Generator, int], np.ndarray]]] = {
    "a normal distribution": (0.05, lambda rng, users: rng.normal(0.75, 0.05, users)),
    "a uniform distribution of 50 to 100 %": (0.5 / math.sqrt(12), lambda rng, users: rng.uniform(0.5, 1, users)),
    "half at 60 %, half at 90 %": (0.15, lambda rng, users: np.where(rng.random(users) < 0.5, 0.6, 0.9)),
    "a tenth at 45 %, others at 80 %": (0.35 * 0.3, lambda rng, users: np.where(rng.random(users) < 0.1, 0.45, 0.8)),
}
"""Name -> (standard deviation of the true accuracies, how they are drawn)."""


def drawn(rng: np.random.Generator, cases: int, accuracies: Sequence[float]) -> dict[str, list[float]]:
    """User -> its values of so many cases, each the mean of two orders that mostly agree.

    Args:
        accuracies: the true one of each user.
    """
    values = {}
    for number, p in enumerate(accuracies):
        first = rng.random(cases) < p
        again = np.where(rng.random(cases) < 0.8, first, rng.random(cases) < p)
        values[f"u{number:03}"] = ((first * 1.0 + again) / 2).tolist()
    return values
