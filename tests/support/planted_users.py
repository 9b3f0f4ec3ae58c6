"""Users drawn anew whose true accuracies have a beta distribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def _drawn(sizes: Sequence[int], mean: float, spread: float, simulations: int) -> Iterator[list[Estimate]]:
    rng = np.random.default_rng(SEED)
    cases = mean * (1 - mean) / spread**2 - 1
    for _ in range(simulations):
        values = {}
        for number, (size, p) in enumerate(
            zip(sizes, rng.beta(mean * cases, (1 - mean) * cases, len(sizes)), strict=True)
        ):
            first = rng.random(size) < p
            again = np.where(rng.random(size) < 0.8, first, rng.random(size) < p)  # the other order mostly agrees
            values[f"u{number:03}"] = ((first * 1.0 + again) / 2).tolist()
        yield quantiles(fit(values))


def quantiles_held(sizes: Sequence[int], mean: float, spread: float, simulations: int) -> list[float]:
    """Share of the simulations whose intervals hold each of the true quantiles."""
    true = true_quantiles(mean, spread)
    held = [
        [found.low <= value <= found.high for found, value in zip(made, true, strict=True)]
        for made in _drawn(sizes, mean, spread, simulations)
    ]
    return np.mean(held, axis=0).tolist()


def quantiles_found(sizes: Sequence[int], mean: float, spread: float, simulations: int) -> list[float]:
    """Their mean estimates."""
    return np.mean(
        [[found.value for found in made] for made in _drawn(sizes, mean, spread, simulations)], axis=0
    ).tolist()
