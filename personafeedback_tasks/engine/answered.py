"""The answers of one case, as a log has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..common.statistics import mean
from .judged import Answers


@dataclass(frozen=True)
class CaseAnswers:
    """What a model answered to one case, and what follows from it.

    Attributes:
        case_id, cell, user_id, digest: see `cases.Case`.
        targets: the right label of each call; empty where no labels are read.
        answers: one entry per epoch; empty where no labels are read.
        values: metric -> value, one entry per epoch.
        unread: (reason, excerpt) of each unreadable reply, as far as the log holds it.
    """

    case_id: str
    cell: str
    user_id: str
    digest: str
    targets: tuple[str, ...]
    answers: tuple[Answers, ...]
    values: tuple[Mapping[str, float], ...]
    unread: tuple[tuple[str, str], ...] = ()

    def value(self, metric: str) -> float:
        """A metric's mean over the epochs that define it; nan if none does or the method does not have it."""
        return mean(values.get(metric, float("nan")) for values in self.values)
