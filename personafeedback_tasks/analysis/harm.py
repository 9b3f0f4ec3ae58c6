"""Cost of being told something about the user: the answers that a run loses, and wins, beside those of its control."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..core.result import Result
from ..logs.run import Run
from ..stats.estimates import Estimate, share

HARMED, HELPED, UNCHANGED, UNREAD = "harmed", "helped", "unchanged", "unread"


@dataclass(frozen=True, kw_only=True)
class Harm:
    """Answers to the same case in the same epoch, with and without what the model is told.

    Each order has one. Log-odds have one for all orders: a model that follows place would else lose none.

    Attributes:
        share: of the answers that are right without, those that are wrong with it; a tie is half of one. Errors are
            clustered by user.
        harmed: right without, wrong with it.
        helped: wrong without, right with it.
        unchanged: right in both, or wrong in both.
        unread: a reply of either cannot be read.
    """

    share: Estimate
    harmed: int
    helped: int
    unchanged: int
    unread: int


def harm_of(run: Run, control: Run, ids: Iterable[str]) -> Harm | None:
    """Change from a run's control on some cases; None where neither has calls that are right or wrong."""
    kinds: Counter[str] = Counter()
    lost, users = [], []  # of each answer that is right without
    for case_id in sorted(run.cases.keys() & control.cases.keys() & {*ids}):
        for told, untold in zip(run.by_case[case_id], control.by_case[case_id], strict=False):
            for after, before in zip(_right(run, told), _right(control, untold), strict=True):
                kinds[_kind(after, before)] += 1
                if before == 1:
                    lost.append(0.0 if math.isnan(after) else 1 - after)
                    users.append(told.user_id)
    if not kinds:
        return None
    counts = {kind: kinds[kind] for kind in (HARMED, HELPED, UNCHANGED, UNREAD)}
    return Harm(share=share(lost, users), **counts)


def _right(run: Run, result: Result) -> list[float]:
    # 1, 0, or 0.5 for a tie; nan for a reply that cannot be read
    if run.method.primary:
        return [result.values.get(run.primary, math.nan)]
    labels, answers = run.benchmark.labels, zip(result.targets, result.answers, strict=True)
    return [float(answer == target) if answer in labels else math.nan for target, answer in answers]


def _kind(after: float, before: float) -> str:
    if math.isnan(after) or math.isnan(before):
        return UNREAD
    return UNCHANGED if after == before else HELPED if after > before else HARMED
