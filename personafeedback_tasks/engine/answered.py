"""The answers to one case, as logged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

from ..common.statistics import mean
from .judged import Answers
from .rewards import Pairs


@dataclass(frozen=True)
class CaseAnswers:
    """A model's answers to one case, and the scores that follow.

    Attributes:
        case_id, cell, user_id, digest: see `cases.Case`.
        targets: the right label of each call; empty where no labels are read.
        answers: one entry per epoch; empty where no labels are read.
        values: metric -> value, one entry per epoch.
        rewards: of both responses, one entry per epoch; empty where a method reads no rewards.
        tokens: of the prompts and replies of all calls, mean over the epochs; nan where the log does not count them.
        unread: (reason, excerpt) of each unreadable reply, if the log contains it.
    """

    case_id: str
    cell: str
    user_id: str
    digest: str
    targets: tuple[str, ...]
    answers: tuple[Answers, ...]
    values: tuple[Mapping[str, float], ...]
    unread: tuple[tuple[str, str], ...] = ()
    rewards: tuple[Pairs, ...] = ()
    tokens: float = nan

    def value(self, metric: str) -> float:
        """A metric's mean over the epochs that define it; nan if none does or the method does not have it."""
        if len(self.values) == 1:
            return self.values[0].get(metric, nan)
        return mean(values.get(metric, nan) for values in self.values)
