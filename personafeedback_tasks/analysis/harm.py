"""Cost of being told something about the user: the calls that a run loses, and wins, beside those of its control."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..logs.run import Run
from ..stats.estimates import Estimate, share

HARMED, HELPED, UNCHANGED, UNREAD = "harmed", "helped", "unchanged", "unread"


@dataclass(frozen=True, kw_only=True)
class Harm:
    """Calls of the same case, order and epoch, with and without what the model is told.

    Attributes:
        share: of the calls that are right without, those that pick a wrong answer with it. Errors are clustered by
            user.
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
    lost, users = [], []  # of each call that is right without
    for case_id in sorted(run.cases.keys() & control.cases.keys() & {*ids}):
        for told, untold in zip(run.by_case[case_id], control.by_case[case_id], strict=False):
            for target, answer, before in zip(told.targets, told.answers, untold.answers, strict=True):
                kind = _kind(target, answer, before, run.benchmark.labels)
                kinds[kind] += 1
                if before == target:
                    lost.append(float(kind == HARMED))
                    users.append(told.user_id)
    if not kinds:
        return None
    counts = {kind: kinds[kind] for kind in (HARMED, HELPED, UNCHANGED, UNREAD)}
    return Harm(share=share(lost, users), **counts)


def _kind(target: str, answer: str, before: str, labels: tuple[str, ...]) -> str:
    if answer not in labels or before not in labels:
        return UNREAD
    if (answer == target) == (before == target):
        return UNCHANGED
    return HELPED if answer == target else HARMED
