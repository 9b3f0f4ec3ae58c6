"""What stops a release: shortcuts that already tell the chosen response on Hard, and labels that contradict each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ...common.errors import DataError
from ...common.statistics import Estimate, percent
from ...personafeedback.audit import audit
from ...personafeedback.baselines import BASELINES, estimate
from ...personafeedback.cases import PersonaCases
from ...personafeedback.cells import DIFFICULTIES

MOST = 0.6
"""Accuracy of a shortcut on Hard above which the set measures the shortcut."""

STOPPING = ("longest", "overlap", "name")
CONTRADICTION = "contradiction"
NAMES = (*STOPPING, CONTRADICTION)
"""What --accept may name."""


@dataclass(frozen=True)
class Checked:
    """What was measured of a set before its release.

    Attributes:
        shortcuts: baseline -> tier -> its accuracy, with a standard error by user.
        contradictions: ids of the cases whose two texts occur with the opposite label as well.
        found: name of NAMES -> a sentence, of those that would stop the release.
    """

    shortcuts: Mapping[str, Mapping[str, Estimate]]
    contradictions: tuple[str, ...]
    found: Mapping[str, str]

    def table(self, quote: str = "") -> tuple[list[str], list[list[str]]]:
        """(header, rows): the accuracy of each baseline in each tier, in percent.

        Args:
            quote: stands before and after the name of a baseline.
        """
        header = ["", *next(iter(self.shortcuts.values()))]
        return header, [
            [f"{quote}{name}{quote}", *(percent(estimate.value, stderr=estimate.stderr) for estimate in of.values())]
            for name, of in self.shortcuts.items()
        ]


def check(cases: PersonaCases) -> Checked:
    """Measure a set."""
    tiers = {tier: [case for case in cases if case.difficulty == tier] for tier in DIFFICULTIES}
    shortcuts = {
        name: {tier: estimate(map(BASELINES[name], some), some) for tier, some in tiers.items() if some}
        for name in BASELINES
    }
    found = {}
    for name in STOPPING:
        hard = shortcuts[name].get("hard")
        if hard is not None and hard.value > MOST:
            found[name] = (
                f"{name} is right in {percent(hard.value, stderr=hard.stderr)} % of {hard.n:,} Hard cases, more than {100 * MOST:.0f} %: a model could score so "
                "without reading a persona."
            )
    opposite = audit(cases).findings[CONTRADICTION].ids
    if opposite:
        found[CONTRADICTION] = (
            f"{len(opposite):,} cases have the same two texts as another one with the opposite label: {', '.join(opposite[:4])}."
        )
    return Checked(shortcuts, tuple(opposite), found)


def refuse(checked: Checked, accepted: Collection[str], command: str) -> None:
    """Raise DataError if something was found that nobody accepted.

    Args:
        command: that would release the set, to which --accept is added.
    """
    stopping = {name: sentence for name, sentence in checked.found.items() if name not in accepted}
    if stopping:
        flags = " ".join(f"--accept {name}" for name in checked.found)
        raise DataError(
            f"The set is not released. {' '.join(stopping.values())} Add pairs, or drop some in questions.csv, and run the steps again; or "
            f"accept it, which the card will say: {command} {flags}"
        )
