"""Is it a shortcut? A run beside each baseline, pick by pick, and its accuracy where the responses do not differ in length.

A pick is one reply (one order, one epoch) or one pair of rewards. Unreadable replies, ties of rewards and cases in which the
baseline has no pick are left out. A case counts once: by the share of its picks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..common.adjusted import at_zero
from ..common.statistics import Estimate, estimate, mean
from ..engine.outcome import ScoredCase
from ..engine.report import Examined, ReportSpec

ONE_OF_THEM = 0.95
"""A run that picks what a baseline picks in a larger share of the cases is said to be that baseline."""


@dataclass(frozen=True)
class Agreement:
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
    """What a report says about shortcuts in a cell or a group of cells.

    Attributes:
        baselines: name -> agreement with it.
        adjusted: see `adjusted.at_zero`; None without a covariate.
    """

    baselines: Mapping[str, Agreement]
    adjusted: Estimate | None


def make_shortcuts(
    cases: Mapping[str, ScoredCase], groups: Mapping[str, Sequence[str]], spec: ReportSpec, texts: Examined
) -> dict[str, Shortcuts]:
    """Name of a group -> its shortcuts; groups without a pick are left out, and all where the benchmark compares none.

    Args:
        cases: by id.
        groups: name -> ids of its cases.
    """
    if spec.picked is None:
        return {}
    picks = {case_id: spec.picked(case) for case_id, case in cases.items()}
    return {
        name: _of_group([cases[case_id] for case_id in ids], [picks[case_id] for case_id in ids], spec, texts)
        for name, ids in groups.items()
        if not all(math.isnan(picks[case_id]) for case_id in ids)
    }


def _of_group(cases: Sequence[ScoredCase], picks: Sequence[float], spec: ReportSpec, texts: Examined) -> Shortcuts:
    users, cells = [case.user_id for case in cases], [case.cell for case in cases]
    baselines = {name: [texts.baselines[case.case_id][name] for case in cases] for name in spec.shortcuts}
    adjusted = None
    if texts.covariate:
        adjusted = at_zero(
            [case.value(spec.primary) for case in cases],
            [texts.covariate.values[case.case_id] for case in cases],
            users,
        )
    return Shortcuts({name: agreement(picks, baseline, users, cells) for name, baseline in baselines.items()}, adjusted)


def agreement(
    picks: Sequence[float], baseline: Sequence[float], users: Sequence[str], cells: Sequence[str]
) -> Agreement:
    """See `Agreement`.

    Args:
        picks: share of each case's picks that are right; nan without one.
        baseline: 1 where it is right, 0 where it is wrong; anything else is no pick.
        users, cells: of each case.
    """
    there = [
        (pick, right, user, cell)
        for pick, right, user, cell in zip(picks, baseline, users, cells, strict=True)
        if right in (0, 1) and not math.isnan(pick)
    ]
    p, q = _by_cell(there, 0), _by_cell(there, 1)

    def differs(one: float, other: float) -> float:
        return one * (1 - other) + other * (1 - one)

    found = [differs(pick, right) for pick, right, *_ in there]
    # Of every case, its expected share and what it adds to it through p_c and q_c: their mean is 1 - e, and so is their
    # spread over users (the linear terms of both rates).
    chance = [
        differs(p[cell], q[cell]) + (1 - 2 * q[cell]) * (pick - p[cell]) + (1 - 2 * p[cell]) * (right - q[cell])
        for pick, right, _, cell in there
    ]
    apart, expected = mean(found), mean(chance)
    # kappa = 1 - apart / expected, a ratio of two means: its linear terms have its spread.
    ratio = apart / expected if expected > 0 else math.nan
    terms = [1 - ratio - (d - ratio * e) / expected for d, e in zip(found, chance, strict=True)] if expected > 0 else []
    count = sum(not math.isnan(pick) for pick in picks)
    return Agreement(
        same=1 - apart,
        expected=1 - expected,
        kappa=estimate(terms, [user for *_, user, _ in there][: len(terms)]),
        all=math.fsum(1 - d for d in found) / count if count else math.nan,
    )


def _by_cell(cases: Sequence[tuple[float, float, str, str]], place: int) -> dict[str, float]:
    """Cell -> mean of one of the values of its cases."""
    values: dict[str, list[float]] = {}
    for case in cases:
        values.setdefault(case[3], []).append(float(case[place]))
    return {cell: mean(found) for cell, found in values.items()}
