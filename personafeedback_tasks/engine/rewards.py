"""Two rewards -> the score of a case; many of them -> how they correlate with each other and with being the better response."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ..common.errors import PersonaFeedbackError
from ..common.statistics import mean
from .evidence import Reward

TOTAL = "reward"
"""The name of the reward itself among those of the aspects."""

LOCAL = "local"
"""Instead of the commit of a reward model: a folder has none."""

Pairs = Mapping[str, tuple[float, float]]
"""TOTAL and each aspect -> the rewards of both responses, the better one first."""


class RewardError(PersonaFeedbackError):
    """A reward model cannot be loaded, or cannot score what it is given."""


def score_pair(better: float, worse: float) -> tuple[float, float]:
    """(acc, tie) of one case: acc is 1 if the better response has the higher reward, else 0; tie is 1 if both are equal.

    Raises:
        RewardError: a reward is nan or infinite, so it cannot be scored.
    """
    if not (math.isfinite(better) and math.isfinite(worse)):
        raise RewardError(
            f"found the rewards {better!r} and {worse!r}, expected finite numbers. "
            "Half precision may overflow: pass -M dtype=float32."
        )
    return float(better > worse), float(better == worse)


def pairs_of(rewards: Sequence[Reward]) -> Pairs:
    """The rewards of the better response and of the other one, side by side."""
    better, worse = rewards
    return {
        TOTAL: (better.reward, worse.reward),
        **{name: (value, worse.aspects[name]) for name, value in better.aspects.items()},
    }


def score_rewards(case_id: str, pairs: Pairs, truncated: Sequence[bool]) -> dict[str, float]:
    """The values of a case.

    Args:
        truncated: of each response, whether its conversation was cut.

    Returns:
        acc, tie: see `score_pair`. acc_half: acc with a tie counting half. truncated: share of the responses. acc_<aspect>: acc of
        one aspect.

    Raises:
        RewardError: a reward is not a finite number.
    """
    try:
        scored = {name: score_pair(*pair) for name, pair in pairs.items()}
    except RewardError as error:
        raise RewardError(f"{case_id}: {error}") from error
    acc, tie = scored.pop(TOTAL)
    of_aspects = {f"acc_{name}": right for name, (right, _) in scored.items()}
    return {
        "acc": acc,
        "acc_half": acc + tie / 2,
        "tie": tie,
        "truncated": sum(truncated) / len(truncated),
        **of_aspects,
    }


def correlations(cases: Iterable[Sequence[Pairs]]) -> dict[str, float]:
    """`pearson_reward`, `pearson_<aspect>`: how each correlates with being the better response, from the rewards of each case in each epoch."""
    return {f"pearson_{name}": value for name, value in with_better(over_responses(cases)).items()}


def over_responses(cases: Iterable[Sequence[Pairs]]) -> dict[str, list[float]]:
    """TOTAL and each aspect -> the rewards of all responses: of both responses of the first case, then of the second, ...

    A response in several cases is there once for each. The epochs of a case are averaged.

    Args:
        cases: the rewards of each case, one entry per epoch; all have the same names.
    """
    columns: dict[str, list[float]] = {}
    for epochs in cases:
        for name in epochs[0]:
            columns.setdefault(name, []).extend(map(mean, zip(*(pairs[name] for pairs in epochs), strict=True)))
    return columns


def with_better(columns: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Name -> Pearson correlation of its column of `over_responses` with 1 for the better response, 0 for the other."""
    return {name: pearson(column, [1.0, 0.0] * (len(column) // 2)) for name, column in columns.items()}


def between(columns: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Name -> name -> Pearson correlation of the two columns."""
    units = {name: _unit(column) for name, column in columns.items()}
    return {one: {other: _product(units[one], units[other]) for other in units} for one in units}


def pearson(one: Sequence[float], other: Sequence[float]) -> float:
    """Pearson correlation; nan where all values of one side are equal, or there are none."""
    return _product(_unit(one), _unit(other))


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    if not (one and other):
        return math.nan
    return max(-1.0, min(1.0, math.fsum(a * b for a, b in zip(one, other, strict=True))))  # rounded it may exceed 1


def _unit(values: Sequence[float]) -> list[float]:
    """The deviations from the mean as a vector of length 1; empty where all values are equal."""
    if len(set(values)) < 2:
        return []
    largest = max(map(abs, values))  # divided by it first: squares of huge values overflow
    scaled = [value / largest for value in values]
    center = math.fsum(scaled) / len(scaled)
    length = math.sqrt(math.fsum((value - center) ** 2 for value in scaled))
    return [(value - center) / length for value in scaled]
