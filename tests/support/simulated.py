"""Benchmarks drawn anew, with the truth planted: the cases of a user succeed and fail together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from personafeedback_tasks.stats.estimates import estimate

BENCHMARKS = 2_000  # a rate of 5 % is then known to 0.5 points, one standard error


def owners_of(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def draw(sizes, values, shares, correlation, seed):
    """Benchmarks x cases. Any two cases of a user have the correlation asked for; the mean expected is shares @ values.

    Each user has shares of their own, from the Dirichlet distribution around `shares`; with two values, 1 and 0,
    their right answers are beta-binomial.
    """
    rng = np.random.default_rng(seed)
    concentration = 1 / correlation - 1
    weights = rng.gamma(np.asarray(shares) * concentration, size=(BENCHMARKS, len(sizes), len(values)))
    limits = np.cumsum(weights, axis=-1) / weights.sum(axis=-1, keepdims=True)
    uniform = rng.random((BENCHMARKS, sizes.sum()))
    chosen = sum((uniform > limits[:, owners_of(sizes), k]).astype(np.int8) for k in range(len(values) - 1))
    return np.asarray(values)[chosen]


def sums_of(table, sizes):
    """Benchmarks x users."""
    return np.add.reduceat(table, np.cumsum([0, *sizes[:-1]]), axis=1)


def intervals_of_differences(table, sizes):
    """What `estimate` says, for all benchmarks at once: (low, high)."""
    count, n = len(sizes), sizes.sum()
    means = table.mean(axis=1)
    stderr = np.sqrt(((sums_of(table, sizes) - np.outer(means, sizes)) ** 2).sum(axis=1) * count / (count - 1)) / n
    low, high = means + np.outer((-1, 1), stderr * stats.t.ppf(0.975, count - 1))
    owners = owners_of(sizes).tolist()
    for row in range(0, BENCHMARKS, 100):
        found = estimate(table[row].tolist(), owners)
        assert (found.low, found.high) == pytest.approx((low[row], high[row]), abs=1e-12)
    return low, high
