"""A claim about an interval or a test, and the simulation that says how often it holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from personafeedback_tasks.stats.estimates import Estimate

SEED = 20250615
Rng = np.random.Generator


@dataclass(frozen=True)
class Claim:
    """A row of the table.

    Attributes:
        name: of the interval or test.
        planted: the truth.
        expected: the rate that it should have, in words; empty for a rate that is told and not promised.
        users, cases: of a simulated benchmark.
    """

    name: str
    planted: str
    expected: str
    users: int
    cases: int


@dataclass(frozen=True)
class Study:
    """Claims about the same simulated benchmarks.

    Attributes:
        once: one benchmark -> of each claim whether it held, or the share that did, in [0, 1]; nan for no statement.
        simulations: how many benchmarks the table has.
    """

    claims: tuple[Claim, ...]
    once: Callable[[Rng], Sequence[float]]
    simulations: int = 2_000

    def measured(self, simulations: int) -> list[tuple[float, float]]:
        """(rate, its Monte Carlo error) of each claim."""
        rng = np.random.default_rng(SEED)
        held = np.array([self.once(rng) for _ in range(simulations)], dtype=float)
        counted = np.maximum((~np.isnan(held)).sum(axis=0), 1)
        return list(
            zip(np.nanmean(held, axis=0).tolist(), (np.nanstd(held, axis=0) / np.sqrt(counted)).tolist(), strict=True)
        )


def table_row(claim: Claim, rate: float, error: float) -> str:
    """A line of the table, in percent."""
    measured = f"{100 * rate:.1f} ± {100 * error:.1f}"
    return f"| {claim.name} | {claim.planted} | {claim.expected} | {measured} | {claim.users:,} | {claim.cases:,} |"


def holds(found: Estimate | None, truth: float) -> float:
    return math.nan if found is None or math.isnan(found.low) else float(found.low <= truth <= found.high)


def owners(users: int, cases: int) -> list[str]:
    return [f"u{number:03}" for number in range(users) for _ in range(cases)]


def logistic_mean(center: float, spread: float) -> float:
    """The mean share of users whose log odds are normal."""
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    return float(weights @ (1 / (1 + np.exp(-center - spread * points))) / weights.sum())


def beta_binomial(rng: Rng, users: int, cases: int, mean: float, correlation: float) -> np.ndarray:
    """Right and wrong cases, users x cases; two of a user have the correlation."""
    strength = 1 / correlation - 1
    return (rng.random((users, cases)) < rng.beta(mean * strength, (1 - mean) * strength, users)[:, None]).astype(float)
