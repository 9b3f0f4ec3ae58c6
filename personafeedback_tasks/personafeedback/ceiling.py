"""The label ceiling: the accuracy beyond which a judge's figures say nothing, by labels that contradict each other or rest on who voted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean

from .cases import PersonaCases
from .cells import DIFFICULTIES
from .manifest import LabelNoise, Manifest

CONTRADICTIONS = (
    "Label ceiling: an order-blind judge has at most this {} over all cells of the data (contradictory labels)"
)

ANOTHER_NINE = (
    "Label ceiling: another nine annotators like those of the labels would have this {} over all cells of the data, as estimated from the "
    "votes (shortcuts that all of them take are not in it)"
)


def noise_of(manifest: Manifest | None, difficulties: Iterable[str] = ()) -> LabelNoise | None:
    """The noise of a set's labels, if its manifest has it for these difficulties."""
    noise = manifest.noise if manifest else None
    return noise if noise and set(difficulties) <= set(noise.by_tier) else None


def sentence(cases: PersonaCases, measure: str) -> str:
    """What the ceiling of these cases is, without a full stop.

    Args:
        measure: the name of the accuracy.
    """
    noise = noise_of(cases.release.manifest, {case.difficulty for case in cases})
    return (ANOTHER_NINE if noise else CONTRADICTIONS).format(measure)


def ceilings(cases: PersonaCases, by_contradictions: Mapping[str, float]) -> dict[str, float]:
    """Group -> its ceiling, in [0, 1].

    Args:
        by_contradictions: group (a category, or `total`) -> the ceiling that contradictory labels alone leave.
    """
    noise = noise_of(cases.release.manifest, {case.difficulty for case in cases})
    if not noise:
        return dict(by_contradictions)
    risks = {tier: noise.by_tier[tier].value for tier in DIFFICULTIES if tier in noise.by_tier}
    return {
        group: min(ceiling, 1 - fmean(risks[case.difficulty] for case in cases if group in ("total", case.category)))
        for group, ceiling in by_contradictions.items()
    }
