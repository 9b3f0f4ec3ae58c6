"""The votes of people on some duels, beside those of a judge on all of them: the win rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .corrected import NONE, ROUNDING, Known, Votes
from .estimates import Estimate, by_user, linearized, shows_spread

LEAST_USERS = 10
"""With votes on the duels of fewer users, no rate is worth printing: it rests on how these few differ."""


@dataclass(frozen=True)
class Powered:
    """A prediction-powered win rate.

    Attributes:
        rate: of all duels, in [0, 1].
        weight: lambda, how far the judge's votes are used: 0 is the mean of the people's votes alone.
    """

    rate: Estimate
    weight: float


def prediction_powered(people: Sequence[float | None], duels: Votes, known: Known = NONE) -> Powered:
    """The share of the duels that the reply wins by people's votes, with the judge's votes on the other duels.

    Args:
        people: share of the people's votes that are for the reply, a tie being half of one; None where nobody voted.
        duels: the judge's votes on the same duels.
    """
    # PPI++ (Angelopoulos, Duchi, Zrnic, arXiv 2311.01453): weight * mean(judge, other duels) +
    # mean(people - weight * judge). It says nothing false whatever the judge's errors, as long as people saw a random
    # sample of the duels. Their intervals take all duels for independent, and cover too little where a user's go
    # together; so the standard error is clustered by user.
    import numpy as np  # the extra `report` brings it

    labeled = np.array([vote is not None for vote in people])
    truth = np.array([vote for vote in people if vote is not None], dtype=float)
    judge = np.array(duels.won, dtype=float)
    seen, others = judge[labeled], judge[~labeled]
    weight = _weight(truth, seen, others)
    residual = truth - weight * seen
    center = float(np.mean(residual))
    value = center + (weight * float(np.mean(others)) if len(others) else 0.0)
    moved = np.zeros(len(judge))
    moved[labeled] = (residual - center) / len(seen)
    if len(others):
        moved[~labeled] = weight * (others - others.mean()) / len(others)

    count = len(judge) + len(known.won)
    rate = (value * len(judge) + math.fsum(known.won)) / count
    moves: list[tuple[str, float]] = [
        (user, float(move) * len(judge) / count + (value - rate) / count)
        for user, move in zip(duels.users, moved, strict=True)
    ]
    moves += [(user, (won - rate) / count) for user, won in zip(known.users, known.won, strict=True)]
    voters = len({user for user, vote in zip(duels.users, people, strict=True) if vote is not None})
    made = linearized(rate, by_user(moves), count, voters - 1)
    # Votes that leave nothing over once the judge's are known, such as unanimous ones, do not say that others would
    # not: as in `estimates.share`, up to this share of the users may differ.
    unseen = 1 - (0.05 / 2) ** (1 / voters) if np.ptp(residual) < ROUNDING else 0.0
    reach = unseen * len(judge) / count
    if shows_spread(made.stderr) or not unseen:
        reach += made.high - rate
    return Powered(replace(made, low=rate - reach, high=rate + reach).within(0.0, 1.0), weight)


def _weight(truth: Any, seen: Any, others: Any) -> float:
    # lambda of PPI++ (equation 6), in [0, 1]: how far the judge's votes go with people's
    import numpy as np

    spread = np.var(np.concatenate([seen, others]), ddof=1) if len(others) and len(truth) > 1 else 0.0
    if not spread:
        return 0.0
    together = np.mean((truth - truth.mean()) * (seen - seen.mean()))
    return float(np.clip(together / spread / (1 + len(truth) / len(others)), 0, 1))
