"""Results for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from personafeedback_tasks.core.result import Result


def results_of(
    case_id: str,
    cell: str,
    user_id: str,
    targets: Sequence[str] = (),
    answers: Sequence[tuple[str, ...]] = (),
    values: Sequence[Mapping[str, float]] = (),
    rewards: Sequence[Any] = (),
    digest: str = "d",
) -> list[Result]:
    """The results of a case, from the answers, values and rewards of each epoch."""
    epochs = enumerate(zip_longest(answers, values, rewards), start=1)
    return [
        Result(case_id, cell, user_id, digest, "", epoch, targets, said or (), scores or {}, pairs)
        for epoch, (said, scores, pairs) in epochs
    ]
