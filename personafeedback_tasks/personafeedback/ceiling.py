"""The label ceiling: higher accuracies mean nothing, since labels contradict each other or depend on who voted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import isnan
from statistics import fmean

from ..common.statistics import percent
from .audit import Audit
from .cases import PersonaCases
from .manifest import LabelNoise

CONTRADICTIONS = (
    "Label ceiling: an order-blind judge has at most this acc over the cells of the run (contradictory labels)"
)

ANOTHER_NINE = (
    "Label ceiling: the majority of another nine annotators like those who voted would have at most this acc over the cells of the run, as "
    "estimated from the votes (shortcuts that all annotators take are not in it; contradictory labels are)"
)


def noise_of(cases: PersonaCases) -> LabelNoise | None:
    """The noise of these labels; None without a set.json that has it for every difficulty of the cases."""
    noise = cases.release.manifest.noise if cases.release.manifest else None
    return noise if noise and {case.difficulty for case in cases} <= noise.by_tier.keys() else None


def sentence(cases: PersonaCases) -> str:
    """How the ceiling of these cases was found, without a full stop."""
    return ANOTHER_NINE if noise_of(cases) else CONTRADICTIONS


def repeated_labels(audited: Audit, cells: Collection[str]) -> str:
    """How often people gave a pair of these cells the same label twice, in a sentence; empty without such pairs."""
    same = audited.same_label(cells)
    if not same.n:
        return ""
    ends = "" if isnan(same.low) else f" (95 % interval {percent(same.low)} to {percent(same.high)})"
    return (
        f"Of {same.n:,} pairs in these cells that the data have twice, in any cells, {percent(same.value)} %{ends} got the same label "
        "both times."
    )


def ceilings(cases: PersonaCases, by_contradictions: Mapping[str, float]) -> dict[str, float]:
    """Group -> its ceiling, in [0, 1]: 1 minus the mean risk of its cases where that is lower.

    Args:
        by_contradictions: group (a category, or `total`) -> ceiling by contradictory labels alone, in [0, 1].
    """
    noise = noise_of(cases)
    if not noise:
        return dict(by_contradictions)
    return {
        group: min(
            ceiling,
            1 - fmean(noise.by_tier[case.difficulty].value for case in cases if group in ("total", case.category)),
        )
        for group, ceiling in by_contradictions.items()
    }
