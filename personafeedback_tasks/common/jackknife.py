"""Estimates of what is not a mean over cases, such as F1: their standard errors by leaving out one user at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from .clusters import Clusters, Shared, shared_variance
from .statistics import Estimate, critical, shows_spread

T = TypeVar("T")


def jackknife_stderr(
    measure: Callable[[Sequence[T]], float],
    items: Sequence[T],
    clusters: Sequence[str],
    also: Shared | None = None,
) -> float:
    """Standard error of what is no mean over cases, such as F1, leaving out one cluster at a time; nan if undefined."""
    # sqrt((C - 1) / C * sum((without one - their mean) ** 2)) over C clusters (Efron, Tibshirani 1993, chapter 11).

    def variance(clusters: Clusters) -> float:
        of_case = list(map(set, zip(*clusters, strict=True)))
        names = list(dict.fromkeys(name for side in clusters for name in side))
        if len(names) < 2:
            return math.nan
        without = [
            measure([item for item, own in zip(items, of_case, strict=True) if left_out not in own])
            for left_out in names
        ]
        center = math.fsum(without) / len(names)
        return (len(names) - 1) / len(names) * math.fsum((value - center) ** 2 for value in without)

    return math.sqrt(shared_variance(variance, clusters, also)[0])


def estimate_of(
    measure: Callable[[Sequence[T]], float],
    items: Sequence[T],
    users: Sequence[str],
    ends: tuple[float, float] = (-math.inf, math.inf),
    also: Shared | None = None,
) -> Estimate:
    """The jackknife estimate of what is no mean over cases. Its 95 % interval stays between the measure's `ends`."""
    # The interval is value +- t * stderr on the scale of log((value - low) / (high - value)), or of log(value - low)
    # where nothing bounds it above. At an end the plain interval is cut off there. Where leaving out any user changes
    # nothing, the error of 0 says nothing about the spread: the interval is nan.
    value, stderr, count = measure(items), jackknife_stderr(measure, items, users, also), len(set(users))
    fewer = min(count, prompts) if also is not None and (prompts := len(set(also.prompts))) > 1 else count
    reach = critical(fewer - 1) * stderr if shows_spread(stderr) else math.nan
    least, most = ends
    low, high = max(least, value - reach), min(most, value + reach)
    if math.isnan(reach):
        low = high = math.nan
    elif math.isfinite(least) and least < value < most:
        # The slope of the scale at the value, and back.
        below, above = value - least, most - value
        factor = math.exp(reach * (1 / below + 1 / above))  # 1 / inf is 0
        if math.isfinite(most):
            low, high = (least + (most - least) / (1 + above / below * by) for by in (factor, 1 / factor))
        else:
            low, high = least + below / factor, least + below * factor
    return Estimate(value, stderr, low, high, len(items), count)
