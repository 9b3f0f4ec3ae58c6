"""What stops a release: shortcuts that already tell the chosen response on Hard, and labels that contradict each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping

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


Shortcuts = Mapping[str, Mapping[str, Estimate]]
"""Baseline -> tier -> its accuracy, with a standard error by user."""


def shortcut_table(shortcuts: Shortcuts, quote: str = "") -> tuple[list[str], list[list[str]]]:
    """(header, rows): the accuracy of each baseline in each tier, in percent.

    Args:
        quote: stands before and after the name of a baseline.
    """
    rows = [
        [f"{quote}{name}{quote}", *(percent(estimate.value, stderr=estimate.stderr) for estimate in of_tier.values())]
        for name, of_tier in shortcuts.items()
    ]
    return ["", *next(iter(shortcuts.values()))], rows


def check(cases: PersonaCases) -> tuple[Shortcuts, dict[str, str]]:
    """(the shortcuts of a set; name of NAMES -> a sentence, of what would stop its release)."""
    tiers = {tier: [case for case in cases if case.difficulty == tier] for tier in DIFFICULTIES}
    shortcuts = {
        name: {tier: estimate(map(BASELINES[name], of_tier), of_tier) for tier, of_tier in tiers.items() if of_tier}
        for name in BASELINES
    }
    stopping = {}
    for name in STOPPING:
        hard = shortcuts[name].get("hard")
        if hard is not None and hard.value > MOST:
            stopping[name] = (
                f"{name} is right in {percent(hard.value, stderr=hard.stderr)} % of {hard.n:,} Hard cases, more than {100 * MOST:.0f} %: a model could score "
                "as high without reading a persona."
            )
    if opposite := audit(cases).findings[CONTRADICTION].ids:
        stopping[CONTRADICTION] = (
            f"{len(opposite):,} cases have the same two texts as another one with the opposite label: {', '.join(opposite[:4])}."
        )
    return shortcuts, stopping


def refuse(stopping: Mapping[str, str], accepted: Collection[str], command: str) -> None:
    """Raise DataError if something stops the release that nobody accepted.

    Args:
        stopping: see `check`.
        command: that would release the set, to which --accept is added.
    """
    if sentences := [sentence for name, sentence in stopping.items() if name not in accepted]:
        flags = " ".join(f"--accept {name}" for name in stopping)
        raise DataError(
            f"The set is not released. {' '.join(sentences)} Add pairs, or drop some in questions.csv, and run the steps again; or "
            f"accept it, which the card will say: {command} {flags}"
        )
