"""Models of which it is known whether they use who their user is, by shapes that no estimator assumes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from personafeedback_tasks.analysis.use import NONE, WRONG, WRONG_OVER_NONE, Use
from personafeedback_tasks.stats.estimates import Estimate, paired

CASES, MODELS = 10, 12
"""Cases of each user, in two orders; models of a ranking."""

Rng = np.random.Generator


def _of_some(share: float, gap: float) -> Callable[[Rng, int], np.ndarray]:
    """A difference that some users have and the others make up for."""
    return lambda rng, users: np.where(rng.random(users) < share, gap, -gap * share / (1 - share))


IDLE: dict[str, tuple[float, Callable[[Rng, int], np.ndarray]]] = {
    "adds nothing": (0.75, lambda rng, users: np.zeros(users)),
    "adds nothing to 97 %": (0.97, lambda rng, users: np.zeros(users)),
    "adds 30 points for half of the users, costs the others as much": (0.6, _of_some(0.5, 0.3)),
    "adds 50 points for a tenth of users, costs the others 5.6": (0.45, _of_some(0.1, 0.5)),
    "costs a tenth of users 50 points, adds 5.6 for the others": (0.94, _of_some(0.1, -0.5)),
}
"""Planted effect of the right persona -> (share right without it, a function that draws each user's gain; mean 0)."""

GAINS: dict[str, tuple[float, Callable[[Rng, int], np.ndarray]]] = {
    f"adds {points} points": (0.75, lambda rng, users, points=points: np.full(users, points / 100))
    for points in (3, 5, 10)
}


def said_to_use(rng: Rng, users: int, shape: str) -> list[float]:
    """[share of models said to use this persona, each by itself; whether any is in a ranking; share in a ranking].

    A wrong persona costs each 10 points: right minus wrong is really there, the worst case for a model that does not.
    """
    none, added = (IDLE | GAINS)[shape]
    alone = []
    for _ in range(MODELS):
        shares = none + added(rng, users), np.full(users, none - 0.1), np.full(users, none)
        alone.append(_use(*(rng.binomial(2 * CASES, np.clip(share, 0, 1)) / (2 * CASES) for share in shares)))
    together = [replace(use, models=MODELS).uses for use in alone]
    return [float(np.mean([use.uses for use in alone])), float(any(together)), float(np.mean(together))]


def _use(right: np.ndarray, wrong: np.ndarray, none: np.ndarray) -> Use:
    def less(a: np.ndarray, b: np.ndarray) -> Estimate:
        return paired((a - b).tolist(), [f"{user}" for user in range(len(a))])

    return Use("persona", {WRONG: less(right, wrong), NONE: less(right, none), WRONG_OVER_NONE: less(wrong, none)})
