"""The label ceiling: the accuracy beyond which a judge's figures say nothing, since labels contradict each other or rest on who voted."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from .cases import PersonaCases
from .manifest import LabelNoise

CONTRADICTIONS = (
    "Label ceiling: an order-blind judge has at most this {} over all cells of the data (contradictory labels)"
)

ANOTHER_NINE = (
    "Label ceiling: the majority of another nine annotators like those who voted would have at most this {} over all cells of the data, as "
    "estimated from the votes (shortcuts that all annotators take are not in it; contradictory labels are)"
)


def noise_of(cases: PersonaCases) -> LabelNoise | None:
    """The noise of these labels; None without a set.json that has it for every difficulty of the cases."""
    noise = cases.release.manifest.noise if cases.release.manifest else None
    return noise if noise and {case.difficulty for case in cases} <= noise.by_tier.keys() else None


def sentence(cases: PersonaCases, measure: str) -> str:
    """What the ceiling of these cases is, without a full stop."""
    return (ANOTHER_NINE if noise_of(cases) else CONTRADICTIONS).format(measure)


def source(cases: PersonaCases) -> str:
    """Where the ceiling of these cases comes from, as in `(from the audit)`."""
    return "set.json and the audit" if noise_of(cases) else "the audit"


def ceilings(cases: PersonaCases, by_contradictions: Mapping[str, float]) -> dict[str, float]:
    """Group -> its ceiling, in [0, 1]: 1 minus the mean risk of its cases where that is lower.

    Args:
        by_contradictions: group (a category, or `total`) -> the ceiling that contradictory labels alone leave, in [0, 1].
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
