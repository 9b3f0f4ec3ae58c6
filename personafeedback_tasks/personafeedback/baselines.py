"""Accuracy of shortcuts on the data, by group of cases, and with the personas of other users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..pairwise import baselines as shortcuts
from ..pairwise.orders import TWO
from ..pairwise.terms import says
from ..stats.estimates import Estimate, paired, share
from ..stats.significance import Comparison
from .cases import PersonaCase, PersonaCases
from .cells import columns

Estimates = dict[str, dict[str, Estimate]]
"""Name of a baseline -> group of cases -> its mean."""

_CORRELATION, _ACCURACY = 0.035, 0.75

COMPARISONS = (
    *(Comparison(f"paired, {100 * share:.0f} % differ", share, _CORRELATION) for share in (0.1, 0.25, 0.4)),
    Comparison("unpaired", _ACCURACY * (1 - _ACCURACY), _CORRELATION, paired=False),
)
"""What a plan assumes, from the baselines on the General half, which are judges without a model."""
# Paired: in which share of the cases one of the two runs is right and the other wrong: the variance of the difference.
# It is 0.10 for `overlap` and `overlap_share`, which are alike, and 0.25 and 0.37 for `longest` and each of them; an
# `acc` of 0.5 (different answers in the two orders) makes it smaller. Unpaired: an accuracy of 75 %, as of two of them.
# Two cases of a user correlate by 0.01 to 0.03, accuracies as well as differences.

READ_PERSONA = {"overlap": shortcuts.overlap, "overlap_share": shortcuts.overlap_share}
"""The baselines that read the persona's values, and can be given another user's; `name` reads the name alone."""


def _name(case: PersonaCase) -> float:
    called = case.persona.profile.get("Name")
    return shortcuts.acc_of_most(case.responses, TWO, lambda text: isinstance(called, str) and says(called, text))


BASELINES: dict[str, Callable[[PersonaCase], float]] = {
    "longest": lambda case: shortcuts.longest(case.responses, TWO),
    "overlap": lambda case: shortcuts.overlap(case.responses, TWO, case.persona.values),
    "overlap_share": lambda case: shortcuts.overlap_share(case.responses, TWO, case.persona.values),
    "name": _name,
}


def _by_group(
    cases: PersonaCases, values: Mapping[str, float], over: Callable[..., Estimate] = share
) -> dict[str, Estimate]:
    found = {}
    for group, cells in columns(cases.cells).items():
        members = [case for cell in cells for case in cases.cells[cell]]
        found[group] = over([values[case.id] for case in members], [case.user_id for case in members])
    return found


def baselines(cases: PersonaCases) -> Estimates:
    """Name -> group -> `acc` of that baseline."""
    return {name: _by_group(cases, acc) for name, acc in acc_of(cases).items()}


def with_other_persona(cases: PersonaCases) -> tuple[Estimates, Estimates]:
    """(`acc` of READ_PERSONA with another user's persona, the right one's minus that by case). Raises DataError."""
    own = acc_of(cases)
    wrong: Estimates = {}
    difference: Estimates = {}
    for name, more in over_other(cases).items():
        difference[name] = _by_group(cases, more, paired)
        wrong[name] = _by_group(cases, {case_id: own[name][case_id] - value for case_id, value in more.items()})
    return wrong, difference


def acc_of(cases: Iterable[PersonaCase]) -> dict[str, dict[str, float]]:
    """Name of a baseline -> case id -> its `acc` in that case."""
    found: dict[str, dict[str, float]] = {name: {} for name in BASELINES}
    for case in cases:
        for name, acc in BASELINES.items():
            found[name][case.id] = acc(case)
    return found


def over_other(cases: Iterable[PersonaCase]) -> dict[str, dict[str, float]]:
    """Name of one of READ_PERSONA -> case id -> its `acc` minus that with the persona of another user."""
    found: dict[str, dict[str, float]] = {name: {} for name in READ_PERSONA}
    for case in cases:
        other = case.another("other_persona").values
        for name, acc in READ_PERSONA.items():
            found[name][case.id] = BASELINES[name](case) - acc(case.responses, TWO, other)
    return found
