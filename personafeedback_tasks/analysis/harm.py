"""Cost of being told something about the user: the answers that a run loses, and wins, beside its control."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..core.result import Result
from ..logs.run import Run
from ..stats.estimates import Estimate, share


def turned(run: Run, control: Run, ids: Iterable[str], before: float = 1) -> Estimate | None:
    """Of the answers to some cases that are right in the control, the share that is wrong in the run; None without any.

    Both answer the same case in the same epoch, clustered by user. Each order has an answer. Log-odds have one for all
    orders: a model that follows place would lose none in either. A tie is half turned, an unreadable reply is not.

    Args:
        before: 0 takes the answers that are wrong in the control, and the share of these that is right in the run.
    """
    shares, users, answers = [], [], 0
    for case_id in sorted(run.cases.keys() & control.cases.keys() & {*ids}):
        for told, untold in zip(run.by_case[case_id], control.by_case[case_id], strict=False):
            for after, without in zip(_right(run, told), _right(control, untold), strict=True):
                answers += 1
                if without == before:
                    shares.append(0.0 if math.isnan(after) else abs(before - after))
                    users.append(told.user_id)
    return share(shares, users) if answers else None


def _right(run: Run, result: Result) -> list[float]:
    # 1, 0, or 0.5 for a tie; nan for a reply that cannot be read
    if run.method.primary:
        return [result.values.get(run.primary, math.nan)]
    labels, answers = run.benchmark.labels, zip(result.targets, result.answers, strict=True)
    return [float(answer == target) if answer in labels else math.nan for target, answer in answers]
