"""Runs drawn anew whose true accuracies are a step apart; users and cases are harder for all of them or for none."""

from __future__ import annotations

from math import comb

import numpy as np

from personafeedback_tasks.common.power import POWER
from personafeedback_tasks.common.significance import detectable
from personafeedback_tasks.common.statistics import estimate
from personafeedback_tasks.reports.rank import LEVEL, pairs_of, ranks_of

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
    apart = {(pair.first, pair.second) for pair in pairs_of([found[run] for run in order], users) if pair.p < LEVEL}
    for place, run in enumerate(order, start=1):
        low, high = ranks_of(place, runs, apart)
        best, worst = (1, runs) if step == 0 else (run + 1, run + 1)
        if low > best or high < worst:
            return False
    return True


def step_that_shows(rng: np.random.Generator, runs: int) -> float:
    """The difference between two of some runs that `plan` says shows in 80 %, with the standard error of 50 benchmarks."""
    equal = [scores(rng, np.array([0.7, 0.7])) for _ in range(50)]
    errors = [estimate([a - b for a, b in zip(*found, strict=True)], users).stderr for found, users in equal]
    step = detectable(float(np.mean(errors)), USERS - 1, POWER, tests=comb(runs, 2))
    # Differences shrink by the shift of users and cases, normal with a variance of .4 ** 2 + 1: so much wider are they planted.
    shift, weights = np.polynomial.hermite_e.hermegauss(40)
    odds = np.log(0.7 / 0.3) + np.sqrt(0.4**2 + 1) * shift
    slope = 1 / (1 + np.exp(-odds)) / (1 + np.exp(odds)) @ weights / weights.sum() / (0.7 * 0.3)
    return step / float(slope)


def outer_told_apart(rng: np.random.Generator, runs: int, step: float) -> bool:
    """Whether the first of some runs is told apart from the last, by a step, where the others lie halfway between the two."""
    pairs = pairs_of(*scores(rng, np.array([0.7 + step / 2, *[0.7] * (runs - 2), 0.7 - step / 2])))
    return next(pair.p < LEVEL for pair in pairs if (pair.first, pair.second) == (1, runs))


def found_among(rng: np.random.Generator, runs: int, benchmarks: int) -> float:
    """Share of benchmarks in which two of some runs are told apart, where their difference is what `plan` says shows in 80 %."""
    step = step_that_shows(rng, runs)
    return float(np.mean([outer_told_apart(rng, runs, step) for _ in range(benchmarks)]))
