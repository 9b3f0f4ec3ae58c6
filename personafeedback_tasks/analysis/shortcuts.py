"""Is it a shortcut? A run beside each baseline, pick by pick, and its accuracy where the responses do not differ in length.

A pick is one reply (one order, one epoch) or one pair of rewards. Unreadable replies, ties of rewards and cases in which the
baseline has no pick are left out. A case counts once: by the share of its picks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

from ..core.report import Examined
from ..core.result import Result
from ..logs.run import Run
from ..stats.clusters import numbered
from ..stats.estimates import Estimate, estimate, mean, shows_spread
from ..stats.logistic import at_zero
from .void import is_void

ONE_OF_THEM = 0.95
"""A run that agrees with a baseline in a larger share of the cases is said to be that baseline."""


@dataclass(frozen=True)
class PickAgreement:
    """How far a run picks what a baseline picks.

    Two judges that know nothing of each other still agree where both are right and where both are wrong. In a cell c where
    they are right in shares p_c and q_c of the cases, and independent given which response is the better one, they agree in
    e_c = p_c q_c + (1 - p_c)(1 - q_c) of them. With the observed share o and e = sum of n_c e_c / n,

        kappa = (o - e) / (1 - e)

    is 0 for such judges, whatever their accuracies, and 1 for two that always agree. It is Cohen's kappa between "the run is
    right" and "the baseline is right" (the error consistency of Geirhos et al., arXiv 2006.16736), with the expected share by
    cell: cells that are hard for both would otherwise look like agreement.

    Attributes:
        same: o, over the cases in which both pick.
        expected: e.
        kappa: with its interval, clustered by user, e being estimated from the same cases.
        all: share of all answered cases in which both pick the same, so that a case without a pick counts as none.
    """

    same: float
    expected: float
    kappa: Estimate
    all: float


@dataclass(frozen=True)
class Shortcuts:
    """Shortcuts in a cell or a group of cells.

    Attributes:
        baselines: name -> agreement with it.
        adjusted: the score where the texts' covariate is 0; None without a covariate.
    """

    baselines: Mapping[str, PickAgreement]
    adjusted: Estimate | None


def make_shortcuts(run: Run, groups: Mapping[str, Sequence[str]], texts: Examined) -> dict[str, Shortcuts]:
    """Name of a group with a pick -> its shortcuts; empty if the benchmark has no baselines to compare, or the run
    is void."""
    picked = run.benchmark.report.picked
    if picked is None or is_void(run):
        return {}
    picks = {case_id: picked(epochs) for case_id, epochs in run.by_case.items()}
    return {
        name: _of_group(run, [run.cases[case_id] for case_id in ids], [picks[case_id] for case_id in ids], texts)
        for name, ids in groups.items()
        if not all(math.isnan(picks[case_id]) for case_id in ids)
    }


def _of_group(run: Run, cases: Sequence[Result], picks: Sequence[float], texts: Examined) -> Shortcuts:
    users, cells = [case.user_id for case in cases], [case.cell for case in cases]
    baselines = {
        name: [texts.baselines[case.case_id][name] for case in cases] for name in run.benchmark.report.shortcuts
    }
    adjusted = None
    if texts.covariate:
        adjusted = at_zero(
            [case.value(run.primary) for case in cases],
            [texts.covariate[case.case_id] for case in cases],
            users,
        )
    return Shortcuts({name: agreement(picks, baseline, users, cells) for name, baseline in baselines.items()}, adjusted)


def agreement(
    picks: Sequence[float], baseline: Sequence[float], users: Sequence[str], cells: Sequence[str]
) -> PickAgreement:
    """Agreement of a run's picks with a baseline's.

    Args:
        picks: share of each case's picks that are right; nan without one.
        baseline: 1 where it is right, 0 where it is wrong; anything else is no pick.
    """
    import numpy as np  # the extra `report` brings it

    pick, right = np.asarray(picks, dtype=float), np.asarray(baseline, dtype=float)
    answered = ~np.isnan(pick)
    there = answered & ((right == 0) | (right == 1))
    pick, right, cell_of = pick[there], right[there], numbered(tuple(cells))[there]
    p, q = _of_cells(pick, cell_of), _of_cells(right, cell_of)

    def differs(one: Any, other: Any) -> Any:
        return one * (1 - other) + other * (1 - one)

    found = differs(pick, right)
    # Of every case, its expected share and what it adds to it through p_c and q_c: their mean is 1 - e, and so is their
    # spread over users (the linear terms of both rates).
    chance = differs(p, q) + (1 - 2 * q) * (pick - p) + (1 - 2 * p) * (right - q)
    apart, expected = mean(found.tolist()), mean(chance.tolist())
    kappa = estimate([], [])
    if expected > 0:
        # kappa = 1 - apart / expected, a ratio of two means: its linear terms have its spread.
        ratio = apart / expected
        kappa = estimate(1 - ratio - (found - ratio * chance) / expected, list(compress(users, there)))
        if not shows_spread(kappa.stderr):  # picks that are all alike say nothing of other cases, whatever kappa is
            kappa = replace(kappa, low=math.nan, high=math.nan)
        else:  # it is at most 1, and 1 - 1 / expected where no pick is shared
            kappa = replace(kappa, low=max(kappa.low, 1 - 1 / expected), high=min(kappa.high, 1.0))
    count = int(answered.sum())
    return PickAgreement(
        same=1 - apart,
        expected=1 - expected,
        kappa=kappa,
        all=math.fsum((1 - found).tolist()) / count if count else math.nan,
    )


def _of_cells(values: Any, cell_of: Any) -> Any:
    import numpy as np

    means = np.empty(len(values))
    for cell in np.unique(cell_of):
        inside = cell_of == cell
        means[inside] = mean(values[inside].tolist())
    return means
