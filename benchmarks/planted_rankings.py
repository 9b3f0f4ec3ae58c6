"""Runs drawn anew whose true accuracies are a step apart; users and cases are harder for all of them or for none."""

from __future__ import annotations

import numpy as np

from personafeedback_tasks.analysis.ranking import pairs_of, ranks_of
from personafeedback_tasks.stats.estimates import ALPHA

USERS, CASES = 101, 10
"""As many as General Hard has: 1,010 cases."""


def scores(rng: np.random.Generator, accuracies: np.ndarray) -> tuple[list[list[float]], list[str]]:
    """(run -> value of each case, the user of each case).

    Two orders a case; two cases of a user correlate by about .035. What is hard, is hard for every run.
    """
    shift = np.repeat(rng.normal(0, 0.4, USERS), CASES) + rng.normal(0, 1.0, USERS * CASES)
    odds = np.log(accuracies / (1 - accuracies))[:, None] + shift
    right = rng.random((2, *odds.shape)) < 1 / (1 + np.exp(-odds))
    return right.mean(axis=0).tolist(), [f"user{number:03}" for number in range(USERS) for _ in range(CASES)]


def places_hold(rng: np.random.Generator, runs: int, step: float) -> bool:
    """Whether the printed places of all runs hold the true ones at once.

    Args:
        step: between the accuracies of neighbors, as a share; where it is 0, all places are right for every run.
    """
    accuracies = 0.7 + step * (np.arange(runs)[::-1] - (runs - 1) / 2)
    found, users = scores(rng, accuracies)
    order = sorted(range(runs), key=lambda run: -sum(found[run]))
    apart = {(pair.first, pair.second) for pair in pairs_of([found[run] for run in order], users) if pair.p < ALPHA}
    for place, run in enumerate(order, start=1):
        low, high = ranks_of(place, runs, apart)
        best, worst = (1, runs) if step == 0 else (run + 1, run + 1)
        if low > best or high < worst:
            return False
    return True
