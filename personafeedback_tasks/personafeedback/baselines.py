"""Accuracy of shortcuts on the data, by group of cases, and with the personas of other users."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from ..pairwise import baselines as shortcuts
from ..pairwise.orders import TWO
from ..pairwise.terms import says
from ..stats.estimates import Estimate, clustered_stderr, mean
from .cases import PersonaCase, PersonaCases
from .cells import columns

Estimates = dict[str, dict[str, Estimate]]
"""Name of a baseline -> group of cases -> its mean."""

CHANCE = TWO.chance
"""The `acc` of a fair coin, and of any judge that looks only at the order."""


READ_PERSONA = {"overlap": shortcuts.overlap, "overlap_share": shortcuts.overlap_share}
"""The baselines that read the persona's values, and can be given another user's. `name` reads no more of it than the name."""


def _name(case: PersonaCase) -> float:
    called = case.persona.profile.get("Name")
    return shortcuts.acc_of_most(
        case.responses, TWO, lambda response: isinstance(called, str) and says(called, response)
    )


BASELINES: dict[str, Callable[[PersonaCase], float]] = {
    "longest": lambda case: shortcuts.longest(case.responses, TWO),
    "overlap": lambda case: shortcuts.overlap(case.responses, TWO, case.persona.values),
    "overlap_share": lambda case: shortcuts.overlap_share(case.responses, TWO, case.persona.values),
    "name": _name,
}


def groups(cases: PersonaCases) -> dict[str, tuple[PersonaCase, ...]]:
    """Name -> cases: the cells that are present, the categories of several cells, and `total` if both categories are.

    The cells are in the order of the paper.
    """
    return {
        name: tuple(case for cell in cells for case in cases.cells[cell])
        for name, cells in columns(cases.cells).items()
    }


def estimate(values: Iterable[float], cases: Iterable[PersonaCase]) -> Estimate:
    """Mean and clustered standard error of one value per case; no interval, which needs the extra `report`."""
    values, users = list(values), [case.user_id for case in cases]
    return Estimate(mean(values), clustered_stderr(values, users), math.nan, math.nan, len(values), len(set(users)))


def by_group(cases: PersonaCases, values: Mapping[str, float]) -> dict[str, Estimate]:
    """Name of a group of `groups` -> mean of the values by case id; cases without a value are left out."""
    counted = {group: [case for case in members if case.id in values] for group, members in groups(cases).items()}
    return {group: estimate([values[case.id] for case in members], members) for group, members in counted.items()}


def baselines(cases: PersonaCases) -> Estimates:
    """Name -> group -> `acc` of that baseline."""
    return {name: by_group(cases, {case.id: acc(case) for case in cases}) for name, acc in BASELINES.items()}


def with_other_persona(cases: PersonaCases) -> tuple[Estimates, Estimates]:
    """(`acc` of READ_PERSONA with another user's persona, the right one's minus that, paired by case)."""
    wrong: Estimates = {}
    difference: Estimates = {}
    for name in READ_PERSONA:
        right, more = ({case.id: of(case) for case in cases} for of in (BASELINES[name], partial(over_other, name)))
        other = {case_id: value - more[case_id] for case_id, value in right.items()}
        wrong[name], difference[name] = by_group(cases, other), by_group(cases, more)
    return wrong, difference


def over_other(name: str, case: PersonaCase) -> float:
    """The `acc` of one of READ_PERSONA in a case minus that with the persona of another user."""
    return BASELINES[name](case) - READ_PERSONA[name](case.responses, TWO, case.another("other_persona").values)


def acc_of(cases: Iterable[PersonaCase]) -> dict[str, dict[str, float]]:
    """Case id -> name of a baseline -> its `acc` in that case."""
    return {case.id: {name: baseline(case) for name, baseline in BASELINES.items()} for case in cases}


def absent(cases: PersonaCases) -> list[str]:
    """Cells that the data must have and that are not among the cases."""
    return [cell for cell in map("_".join, cases.release.counts) if cell not in cases.cells]
