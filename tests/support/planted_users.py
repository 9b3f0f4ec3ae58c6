"""Users drawn anew whose true accuracies have a beta distribution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from personafeedback_tasks.analysis.user_distribution import fit, quantiles
from personafeedback_tasks.common.statistics import Estimate

SEED = 20250615


def true_quantiles(mean: float, spread: float) -> list[float]:
    """The accuracies that 10, 50 and 90 % of users do not exceed, and the mean of the lowest tenth."""
    cases = mean * (1 - mean) / spread**2 - 1
    beta = stats.beta(mean * cases, (1 - mean) * cases)
    low, middle, high = beta.ppf([0.1, 0.5, 0.9]).tolist()
    return [low, middle, high, float(beta.expect(lambda x: x, ub=low, conditional=True))]


def drawn(
    rng: np.random.Generator, sizes: Sequence[int], means: Sequence[float], spread: float
) -> dict[str, list[float]]:
    """User -> its values, each the mean of two orders that mostly agree.

    Args:
        sizes: the number of cases of each user.
        means, spread: of the beta distribution of each user's true accuracy.
    """
    values = {}
    for number, (size, mean) in enumerate(zip(sizes, means, strict=True)):
        strength = mean * (1 - mean) / spread**2 - 1
        p = rng.beta(mean * strength, (1 - mean) * strength)
        first = rng.random(size) < p
        again = np.where(rng.random(size) < 0.8, first, rng.random(size) < p)
        values[f"u{number:03}"] = ((first * 1.0 + again) / 2).tolist()
    return values


def drawn_quantiles(rng: np.random.Generator, sizes: Sequence[int], mean: float, spread: float) -> list[Estimate]:
    """The quantiles that a report prints."""
    return quantiles(fit(drawn(rng, sizes, [mean] * len(sizes), spread)))


def quantiles_held(sizes: Sequence[int], mean: float, spread: float, simulations: int) -> list[float]:
    """Share of the simulations whose intervals hold each of the true quantiles."""
    rng, true = np.random.default_rng(SEED), true_quantiles(mean, spread)
    held = [
        [
            found.low <= value <= found.high
            for found, value in zip(drawn_quantiles(rng, sizes, mean, spread), true, strict=True)
        ]
        for _ in range(simulations)
    ]
    return np.mean(held, axis=0).tolist()


def quantiles_found(sizes: Sequence[int], mean: float, spread: float, simulations: int) -> list[float]:
    """Their mean estimates."""
    rng = np.random.default_rng(SEED)
    made = [[found.value for found in drawn_quantiles(rng, sizes, mean, spread)] for _ in range(simulations)]
    return np.mean(made, axis=0).tolist()
