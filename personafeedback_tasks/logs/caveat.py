"""Caveats on numbers, as records: code asks for a key, `analysis/sentences.py` has the words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

VOID = "void"
"""The numbers are not those of the model. Such a caveat comes first in every output."""

FORBIDS = "forbids"
"""Nothing may be concluded about the model."""

NAMED = "named"
"""Nothing speaks against the numbers; a reader must know what they are made of."""

WEAKENS = "weakens"
"""A conclusion needs care."""


@dataclass(frozen=True)
class Caveat:
    """A reason for care with a run's numbers."""

    key: str
    severity: str  # VOID, FORBIDS, NAMED or WEAKENS. Short outputs leave out the last.
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)  # what its sentence needs, by name
    about: tuple[str, ...] = ()  # names of the runs in the output that it concerns; empty for all


def ordered(caveats: Iterable[Caveat]) -> list[Caveat]:
    """Each caveat once, VOID first. A void run scores no case, so other causes of that are left out."""
    found = dict.fromkeys(caveats)
    if any(caveat.severity == VOID for caveat in found):
        found = {caveat: None for caveat in found if caveat.key not in ("no_case", "no_right_answer")}
    return sorted(found, key=lambda caveat: caveat.severity != VOID)


def grouped(of_runs: Sequence[tuple[str, Iterable[Caveat]]]) -> list[Caveat]:
    """The caveats of several runs, each once and `ordered`, with the names of the runs that it is about."""
    found: dict[Caveat, list[str]] = {}
    for name, caveats in of_runs:
        for caveat in dict.fromkeys(caveats):
            found.setdefault(caveat, []).append(name)
    everywhere = len(of_runs)
    return ordered(
        replace(caveat, about=() if len(names) == everywhere else tuple(names)) for caveat, names in found.items()
    )
