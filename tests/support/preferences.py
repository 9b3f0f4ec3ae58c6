"""How far people agree on pairs, estimated a second time, by scipy's distributions and integrals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import betabinom, norm


def chance(most: int, least: int, a: float) -> float:
    """Of votes that fall so, whichever answer has most of them, where shares are distributed as Beta(a, a)."""
    votes = most + least
    both = betabinom.pmf(most, votes, a, a) + betabinom.pmf(least, votes, a, a)
    return float(both / 2 if most == least else both)


def most_probable(pairs: Mapping[tuple[int, int], int]) -> float:
    """The a of some pairs: (most, least) -> how many have such votes."""

    def surprise(log_a: float) -> float:
        likelihood = sum(count * np.log(chance(*votes, np.exp(log_a))) for votes, count in pairs.items())
        return -norm.logpdf(log_a, 0, 2) - likelihood

    return float(np.exp(minimize_scalar(surprise, bounds=(-5, 8), method="bounded").x))


def above(share: float, most: int, least: int, a: float) -> float:
    """The probability that more than this share of all people agree, as an integral over the share."""

    def mass(low: float, high: float) -> float:
        return quad(lambda p: p ** (a + most - 1) * (1 - p) ** (a + least - 1), low, high)[0]

    return (mass(share, 1) + mass(0, 1 - share)) / (mass(0, 0.5) + mass(0.5, 1))
