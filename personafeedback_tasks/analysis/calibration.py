"""Is a run as sure as it is right? Its probabilities of the response that it picks, beside how often that is the better one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..common.statistics import Estimate, mean, share
from ..runs.run import Run

BINS = 10
"""Of equal width, from 0.5, where both responses are equally probable, to 1."""


@dataclass(frozen=True)
class Bin:
    """The predictions of similar probability.

    Attributes:
        low, high: the limits; only the last bin contains its upper one.
        predicted: mean probability of what was picked; nan in an empty bin.
        right: share of the picks that are the better response; a tie (0.5) is half right.
    """

    low: float
    high: float
    predicted: float
    right: Estimate


@dataclass(frozen=True)
class Calibration:
    """The calibration of a run.

    Attributes:
        error: mean over the predictions of the distance between `predicted` and `right` of their bin.
        chance: the same of a run with these probabilities that is calibrated, on average: the error of so few predictions.
    """

    bins: tuple[Bin, ...]
    error: float
    chance: float
    n: int


def calibration(run: Run) -> Calibration | None:
    """The calibration of a run; None where it has no probabilities."""
    name = run.benchmark.report.probability
    found = [
        (value, case.user_id)
        for case in run.cases.values()
        for outcome in case
        if not math.isnan(value := outcome.values.get(name, math.nan))
    ]
    if not found:
        return None
    sorted_in: list[list[tuple[float, float, str]]] = [[] for _ in range(BINS)]
    for probability, user in found:
        sure = max(probability, 1 - probability)
        right = 0.5 if probability == 0.5 else float(probability > 0.5)
        sorted_in[min(int((sure - 0.5) * 2 * BINS), BINS - 1)].append((sure, right, user))
    bins = tuple(
        Bin(
            low=0.5 + place / (2 * BINS),
            high=0.5 + (place + 1) / (2 * BINS),
            predicted=mean(sure for sure, *_ in inside),
            right=share([right for _, right, _ in inside], [user for *_, user in inside]),
        )
        for place, inside in enumerate(sorted_in)
    )
    error = math.fsum(one.right.n * abs(one.predicted - one.right.value) for one in bins if one.right.n) / len(found)
    # A calibrated bin of n is right in its mean probability, with a variance of sum p (1 - p) / n ** 2; E|x| = sqrt(2 / pi) sd.
    spreads = (math.sqrt(math.fsum(sure * (1 - sure) for sure, *_ in inside)) for inside in sorted_in)
    chance = math.sqrt(2 / math.pi) * math.fsum(spreads) / len(found)
    return Calibration(bins, error, chance, len(found))
