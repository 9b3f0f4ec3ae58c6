"""Scored cases for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from personafeedback_tasks.core.result import Result, ScoredCase


def scored_case(
    case_id: str,
    cell: str,
    user_id: str,
    targets: Sequence[str] = (),
    answers: Sequence[tuple[str, ...]] = (),
    values: Sequence[Mapping[str, float]] = (),
    rewards: Sequence[Any] = (),
    digest: str = "d",
) -> ScoredCase:
    """A case with answers, values and rewards of each epoch."""
    epochs = enumerate(zip_longest(answers, values, rewards), start=1)
    return ScoredCase(
        Result(case_id, cell, user_id, digest, "", epoch, targets, said or (), scores or {}, pairs)
        for epoch, (said, scores, pairs) in epochs
    )


def changed(case: ScoredCase, **changes: Any) -> ScoredCase:
    """The case with the same changes in every epoch."""
    return ScoredCase(replace(outcome, **changes) for outcome in case)


def answering(case: ScoredCase, answers: tuple[str, ...], **changes: Any) -> ScoredCase:
    """The case, in one epoch, with other answers and whatever else changes."""
    return ScoredCase([replace(case[0], answers=answers, **changes)])
