"""Logistic regression with a weak prior, which is finite where the data alone are separated."""

from __future__ import annotations

from typing import Any


def fitted(design: Any, right: Any, weights: Any, prior: Any, start: Any = None) -> tuple[Any, Any]:
    """(coefficients, inverse of the curvature there) of logit P(right) = design @ coefficients, by Newton's method.

    Args:
        design: cases x coefficients.
        right: of each case, in [0, 1].
        weights: of each case, from 0 on.
        prior: of each coefficient the weight of log F(1, 1), which is half a right and half a wrong pick of it alone
            (Greenland, Mansournia 2015).
    """
    import numpy as np  # the extra `report` brings it
    from scipy.special import expit

    at = np.zeros(design.shape[1]) if start is None else start
    inverse = np.eye(design.shape[1])
    for _ in range(MOST_STEPS):
        p, q = expit(design @ at), expit(at)
        slope = design.T @ (weights * (p - right)) + prior * (q - 0.5)
        inverse = np.linalg.inv((design.T * (weights * p * (1 - p))) @ design + np.diag(prior * q * (1 - q)))
        step = inverse @ slope
        at = at - step * min(1.0, 2 / max(float(np.abs(step).max()), SMALLEST))
        if np.abs(step).max() < SMALLEST:
            break
    return at, inverse


MOST_STEPS = 100

SMALLEST = 1e-7
"""Step below which Newton's method has arrived: the next one would be its square."""
