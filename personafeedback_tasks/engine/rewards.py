"""Two rewards -> the score of a case; many of them -> their correlation with the annotators' choice."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..common.errors import PersonaFeedbackError


class RewardError(PersonaFeedbackError):
    """A reward model cannot be loaded, or cannot score what it is given."""


def score_pair(better: float, worse: float) -> tuple[float, float]:
    """(acc, tie) of one case: acc is 1 if the better response has the higher reward, else 0; 0.5 on an exact tie.

    Raises:
        RewardError: a reward is nan or infinite, so it cannot be scored.
    """
    if not (math.isfinite(better) and math.isfinite(worse)):
        raise RewardError(
            f"found the rewards {better!r} and {worse!r}, expected finite numbers. "
            "Half precision may overflow: pass -M dtype=float32."
        )
    return (0.5, 1.0) if better == worse else (float(better > worse), 0.0)


def pearson(chosen: Sequence[float], rejected: Sequence[float]) -> float:
    """Pearson correlation of the rewards of all responses with the label: 1 for a chosen one, 0 for a rejected one.

    Args:
        chosen, rejected: the rewards, one of each per case; nan without a case or where all are equal.
    """
    rewards = [*chosen, *rejected]
    labels = [1.0] * len(chosen) + [0.0] * len(rejected)
    if len(set(rewards)) < 2 or not chosen or not rejected:
        return math.nan
    mean, share = math.fsum(rewards) / len(rewards), len(chosen) / len(labels)
    covariance = math.fsum((x - mean) * (y - share) for x, y in zip(rewards, labels, strict=True))
    spread = math.fsum((x - mean) ** 2 for x in rewards) * math.fsum((y - share) ** 2 for y in labels)
    return covariance / math.sqrt(spread)
