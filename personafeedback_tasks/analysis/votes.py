"""A run as votes on pairs of texts: the text that each call picked, and the longer text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.cases import CaseSet
from ..core.result import Result
from ..core.rewards import TOTAL
from ..logs.run import Run
from ..stats.corrected import Votes
from ..stats.estimates import mean


@dataclass(frozen=True)
class Voted:
    """The votes of a run, case by case."""

    ids: Sequence[str]
    votes: Votes  # their lengths are in characters, and all equal where the texts are missing
    # of each case, the share of readable epochs whose calls all picked the same text; nan without one, and for rewards,
    # which see no order
    consistent: Sequence[float]


def voted(run: Run, cases: CaseSet[Any] | None) -> Voted:
    """The votes of a run on its answered cases.

    Args:
        cases: of its data, for the lengths; None if they are not at hand.
    """
    ids = sorted(run.cases)
    rows = [run.cases[case_id] for case_id in ids]
    picks = [picked(run.by_case[case_id], run) for case_id in ids]
    ratios = [0.0] * len(ids)
    if cases is not None and run.benchmark.report.shown is not None:
        texts = run.benchmark.report.shown(cases, set(ids)).responses
        ratios = [math.log(len(texts[case_id][0]) / len(texts[case_id][1])) for case_id in ids]
    won, lost, consistent = zip(*picks, strict=True) if picks else ((), (), ())
    votes = Votes(won, lost, ratios, [row.user_id for row in rows], [row.cell for row in rows])
    return Voted(ids, votes, consistent)


def picked(results: Sequence[Result], run: Run) -> tuple[float, float, float]:
    """(share of calls that picked the better response, share that picked the other one, `Voted.consistent`), over all
    epochs.

    Where log-odds are known in all orders, the debiased score of the case takes the place of these shares.
    """
    labels = run.benchmark.labels
    pairs = [result.rewards[TOTAL] for result in results if result.rewards]
    if pairs:
        return mean(float(a > b) for a, b in pairs), mean(float(a < b) for a, b in pairs), math.nan
    epochs = [
        [
            answer == target if answer in labels else None
            for answer, target in zip(epoch.answers, epoch.targets, strict=True)
        ]
        for epoch in results
        if epoch.answers
    ]
    calls = [pick for epoch in epochs for pick in epoch]
    consistent = [float(len(set(epoch)) == 1) for epoch in epochs if None not in epoch and len(epoch) > 1]
    case = run.cases[results[0].case_id]
    if run.method.primary and not math.isnan(case.value(run.benchmark.report.probability)):
        return case.value(run.primary), 1 - case.value(run.primary), mean(consistent)
    return mean(float(pick is True) for pick in calls), mean(float(pick is False) for pick in calls), mean(consistent)
