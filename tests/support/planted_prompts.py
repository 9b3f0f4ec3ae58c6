"""Rows that users and prompts share, drawn anew: as many as the authors' labels of relevance have."""

from __future__ import annotations

import numpy as np

USERS, PROMPTS, PAIRS, ROWS = 47, 41, 164, 24
"""Of each pair of a user and a prompt, ROWS attributes."""


def drawn(rng: np.random.Generator, spread: float) -> tuple[list[float], list[str], list[str]]:
    """(value of each row, its user, its prompt): users differ by .3 on the logit scale, prompts by `spread`."""
    while True:
        pairs = rng.permutation(USERS * PROMPTS)[:PAIRS]
        users, prompts = pairs // PROMPTS, pairs % PROMPTS
        if len(set(users)) == USERS and len(set(prompts)) == PROMPTS:
            break
    odds = 1.0 + rng.normal(0, 0.3, USERS)[users] + rng.normal(0, spread, PROMPTS)[prompts]
    right = rng.random((ROWS, PAIRS)) < 1 / (1 + np.exp(-odds))
    names = [f"u{user}" for user in users] * ROWS, [f"p{prompt}" for prompt in prompts] * ROWS
    return right.astype(float).ravel().tolist(), *names


def true_mean(spread: float) -> float:
    """The share of right rows over all users and prompts."""
    odds, weights = np.polynomial.hermite_e.hermegauss(60)
    chances = 1 / (1 + np.exp(-(1.0 + np.hypot(0.3, spread) * odds)))
    return float(chances @ weights / weights.sum())
