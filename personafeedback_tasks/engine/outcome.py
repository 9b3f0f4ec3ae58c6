"""A scored case in one epoch, as harnesses, logs and files of replies give it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

from ..common.statistics import mean
from .answered import CaseAnswers
from .judged import Answers, Judged
from .rewards import Pairs


@dataclass(frozen=True)
class Outcome:
    """One case in one epoch.

    Attributes:
        case_id, cell, user_id, digest: see `cases.Case`.
        epoch: from 1.
        targets: the right label of each call; empty where no labels are read.
        answers: one per call; empty where no labels are read.
        values: metric -> value.
        unread: (reason, excerpt) of each unreadable reply.
        rewards: of both responses; None where a method reads none.
        tokens: of the prompts and replies of all calls; nan where they are not counted.
    """

    case_id: str
    cell: str
    user_id: str
    digest: str
    epoch: int
    targets: Sequence[str]
    answers: Answers
    values: Mapping[str, float]
    unread: tuple[tuple[str, str], ...] = ()
    rewards: Pairs | None = None
    tokens: float = nan

    @property
    def judged(self) -> Judged:
        """As a metric over the corpus sees it."""
        return Judged(self.targets, self.answers, self.cell)


def joined(epochs: Sequence[Outcome]) -> CaseAnswers:
    """All epochs of one case, in order."""
    first = epochs[0]
    return CaseAnswers(
        first.case_id, first.cell, first.user_id, first.digest, tuple(first.targets),
        answers=tuple(epoch.answers for epoch in epochs if epoch.answers),
        values=tuple(epoch.values for epoch in epochs),
        unread=tuple(reply for epoch in epochs for reply in epoch.unread),
        rewards=tuple(epoch.rewards for epoch in epochs if epoch.rewards is not None),
        tokens=mean(epoch.tokens for epoch in epochs),
    )  # fmt: skip
