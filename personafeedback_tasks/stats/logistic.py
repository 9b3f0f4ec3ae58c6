"""Logistic regression with a weak prior, finite for separated data; accuracy where a quantity does not differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .estimates import Estimate, critical, share

MOST_STEPS = 100

SMALLEST = 1e-7
"""Step below which Newton's method has arrived: the next one would be its square."""

LEAST_SHARE = 0.2
"""The smallest share of differences below 0, and above 0, that allows an estimate."""


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


def at_zero(picks: Sequence[float], differences: Sequence[float], users: Sequence[str]) -> Estimate:
    """The share of right picks at no difference: logit P(right) = a + b * difference / its root mean square, at 0.

    Args:
        picks: share of each case's picks that are right, in [0, 1]; nan is left out.
        differences: of the better response minus the other one.
    """
    # The length-controlled win rate of Dubois et al. (arXiv 2404.04475) without its other terms. A judge that picks by
    # the difference alone separates the data: b has no finite estimate, and a hardly one. So b has a weak prior, log
    # F(1, 1), which is half a right and half a wrong pick at a = 0 and a difference of one unit (Greenland, Mansournia
    # 2015). The interval is a +- t * stderr, turned into shares. The standard error is clustered by user, but at least
    # that of the model: close to separation the residuals vanish, and with them the clustered one. On each side it is
    # at least as long as that of `share`: an adjustment takes no uncertainty away, and near 0 and 1 a few picks decide
    # the error here too.
    #
    # If less than LEAST_SHARE of the differences are below 0, or above, hardly any picks are near 0, and the value
    # there would follow from the shape of the curve alone: it is undefined. If otherwise all picks are right, or all
    # are wrong, there is nothing to adjust: the value is that of `share`.
    there = [one for one in zip(picks, differences, users, strict=True) if not math.isnan(one[0])]
    values, clusters = [one[0] for one in there], [one[2] for one in there]
    sides = [sum(sign * one[1] > 0 for one in there) for sign in (-1, 1)]
    if there and min(sides) < LEAST_SHARE * len(there):
        return Estimate(math.nan, math.nan, math.nan, math.nan, len(there), len(set(clusters)))
    plain = share(values, clusters)
    size = math.sqrt(math.fsum(one[1] ** 2 for one in there) / len(there)) if there else 0.0
    if not 0 < plain.value < 1 or size == 0:
        return plain

    import numpy as np  # the extra `report` brings it
    from scipy.special import expit

    right = np.array(values)
    design = np.column_stack([np.ones(len(there)), [one[1] / size for one in there]])
    at, inverse = fitted(design, right, np.ones(len(there)), np.array([0.0, 1.0]))
    number = {user: row for row, user in enumerate(dict.fromkeys(clusters))}
    scores = np.zeros((len(number), 2))
    np.add.at(scores, [number[user] for user in clusters], design * (right - expit(design @ at))[:, None])
    count = len(number)
    stderr = math.nan
    if count > 1:
        clustered = inverse @ scores.T @ scores @ inverse * count / (count - 1)
        stderr = math.sqrt(max(clustered[0, 0], inverse[0, 0]))
    reach = critical(count - 1) * stderr
    value, low, high = (float(expit(at[0] + distance)) for distance in (0.0, -reach, reach))
    if not math.isnan(plain.low):
        low = min(low, max(0.0, value - (plain.value - plain.low)))
        high = max(high, min(1.0, value + (plain.high - plain.value)))
    return Estimate(value, stderr * value * (1 - value), low, high, len(there), count)
