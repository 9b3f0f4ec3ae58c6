"""Accuracy of shortcuts on the data, see `choice.baselines`: name -> case -> `acc`; on whole groups of cases, and with other personas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .. import __version__
from ..choice import baselines as shortcuts
from ..choice.names import says
from ..choice.orders import TWO
from ..common.statistics import Estimate, clustered_stderr, mean
from .cases import Case, CaseSet
from .cells import columns
from .persona import Persona

CHANCE = TWO.chance
"""The `acc` of a fair coin, and of any judge that looks only at the order."""


def longest(case: Case) -> float:
    """The response with more characters: the judge `personafeedback/longest`."""
    return shortcuts.longest(case.responses, TWO)


def overlap(case: Case) -> float:
    """The response with more distinct terms that occur in the values of the persona.

    On the data we have, `overlap_share` is the weaker warning.
    """
    return _overlap(case, case.persona)


def _overlap(case: Case, persona: Persona) -> float:
    return shortcuts.overlap(case.responses, TWO, persona.values)


def overlap_share(case: Case) -> float:
    """The response with the larger share of distinct terms that occur in the values of the persona."""
    return _overlap_share(case, case.persona)


def _overlap_share(case: Case, persona: Persona) -> float:
    return shortcuts.overlap_share(case.responses, TWO, persona.values)


def name(case: Case) -> float:
    """The response that says the user's name, see `names.says`; 0.5 if both or neither do."""
    called = case.persona.profile.get("Name")
    return shortcuts.acc_of_most(
        case.responses, TWO, lambda response: isinstance(called, str) and says(called, response)
    )


BASELINES: dict[str, Callable[[Case], float]] = {
    baseline.__name__: baseline for baseline in (longest, overlap, overlap_share, name)
}


READ_PERSONA: dict[str, Callable[[Case, Persona], float]] = {"overlap": _overlap, "overlap_share": _overlap_share}
"""The baselines that read the persona, and can be given another user's. `name` reads no more of it than the name."""


def groups(cases: CaseSet) -> dict[str, tuple[Case, ...]]:
    """Name -> cases: the cells that are present, the categories of several cells, and `total` if both categories are.

    The cells are in the order of the paper.
    """
    return {
        name: tuple(case for cell in cells for case in cases.cells[cell])
        for name, cells in columns(cases.cells).items()
    }


def estimate(values: Iterable[float], cases: Iterable[Case]) -> Estimate:
    """Mean and clustered standard error of one value per case; no interval, which needs the extra `report`."""
    values, users = list(values), [case.user_id for case in cases]
    return Estimate(mean(values), clustered_stderr(values, users), math.nan, math.nan, len(values), len(set(users)))


def baselines(cases: CaseSet) -> dict[str, dict[str, Estimate]]:
    """Every baseline on every group of cases: name -> group -> its `acc`.

    Args:
        cases: of any cells, see `cases.load_cases`. The groups are those of `groups`.
    """
    acc = acc_of(cases)
    return {
        name: {
            group: estimate([acc[case.id][name] for case in members], members)
            for group, members in groups(cases).items()
        }
        for name in BASELINES
    }


@dataclass(frozen=True)
class Control:
    """What the baselines of READ_PERSONA score with the persona of another user (see others.py).

    Attributes:
        wrong: name -> group -> `acc` with the other persona.
        difference: name -> group -> `acc` with the right persona minus that, paired by case.
    """

    wrong: dict[str, dict[str, Estimate]]
    difference: dict[str, dict[str, Estimate]]


def control(cases: CaseSet) -> Control:
    """READ_PERSONA with the right persona and with another user's.

    Raises:
        DataError: a user of the release can get nobody's.
    """
    scored = {
        case.id: {
            name: (score(case, case.persona), score(case, case.other_persona)) for name, score in READ_PERSONA.items()
        }
        for case in cases
    }
    wrong: dict[str, dict[str, Estimate]] = {name: {} for name in READ_PERSONA}
    difference: dict[str, dict[str, Estimate]] = {name: {} for name in READ_PERSONA}
    for group, members in groups(cases).items():
        for name in READ_PERSONA:
            pairs = [scored[case.id][name] for case in members]
            wrong[name][group] = estimate([other for _, other in pairs], members)
            difference[name][group] = estimate([right - other for right, other in pairs], members)
    return Control(wrong, difference)


def acc_of(cases: Iterable[Case]) -> dict[str, dict[str, float]]:
    """Case id -> name of a baseline -> its `acc` in that case."""
    return {case.id: {name: baseline(case) for name, baseline in BASELINES.items()} for case in cases}


def as_dict(cases: CaseSet, found: dict[str, dict[str, Estimate]], wrong: Control | None) -> dict[str, Any]:
    """What `baselines` and `control` found in these cases, ready for JSON."""
    return {
        "version": __version__,
        "data": cases.revision,
        "cells_absent": absent(cases),
        "chance": CHANCE,
        "baselines": as_json(found),
        "other_persona": None if wrong is None else as_json(wrong.wrong),
        "right_minus_wrong": None if wrong is None else as_json(wrong.difference),
    }


def absent(cases: CaseSet) -> list[str]:
    """The cells that the data must have and that are not among the cases."""
    return [cell for cell in map("_".join, cases.release.counts) if cell not in cases.cells]


def as_json(found: dict[str, dict[str, Estimate]]) -> dict[str, dict[str, dict[str, float | None]]]:
    """Name -> group -> acc, stderr and n for JSON, which knows no nan: undefined is null."""
    return {
        name: {
            group: {"acc": _defined(value.value), "stderr": _defined(value.stderr), "n": value.n}
            for group, value in by_group.items()
        }
        for name, by_group in found.items()
    }


def _defined(number: float) -> float | None:
    return None if math.isnan(number) else number
