"""Where the chain breaks, as the records that reports show and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..common.records import jsonable
from ..engine.funnel import PERCENT, POINTS, RATIO, SIGNED, Funnel, FunnelSheet, FunnelTable
from .filter.effect import MEASURES, OVER_SELECTION, FilterEffect
from .funnel import SENSITIVE, STEPS

TITLE = "Where the chain breaks"
ABOUT = "Intervals: over users, and over prompts as well where users share them."

NOUNS = {"source": "conversations", SENSITIVE: "prompts"}
"""Split -> what its parts are of."""


@dataclass(frozen=True)
class ChainResult:
    """All that is said of one model's chain.

    Attributes:
        filters: one for each filter that was asked and had something to filter.
    """

    funnel: Funnel
    filters: Sequence[FilterEffect]


def sheet(results: Sequence[ChainResult]) -> FunnelSheet:
    """The report of some models."""
    tables = [table for table in [_filters(results)] if table.rows]
    funnels = [one.funnel for one in results]
    return FunnelSheet(TITLE, STEPS, funnels, _named, ABOUT, tables)


def _named(split: str, part: str) -> str:
    return f"{part} {NOUNS[split]}"


def _filters(results: Sequence[ChainResult]) -> FunnelTable:
    """Each measure of each filter, without and with it."""
    rows, notes = [], []
    for model, effect in ((one.funnel.model, effect) for one in results for effect in one.filters):
        for name, estimates in effect.measures.items():
            units = (RATIO, RATIO, SIGNED) if name == OVER_SELECTION else (PERCENT, PERCENT, POINTS)
            rows.append((f"{model}: {MEASURES[name][0]}", list(zip(estimates, units, strict=True))))
        notes += [f"{model}: {effect.note}"] if effect.rows else []
    columns = ("without the filter", "with it", "with minus without, paired")
    return FunnelTable("What the filters change", "% or ratio", columns, rows, " ".join(notes))


def document(results: Sequence[ChainResult], signatures: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Ready for JSON: shares from 0 to 1. A share that cannot be formed is not there.

    Args:
        signatures: model -> stage -> what its numbers depend on.
    """
    models = [
        {
            "model": one.funnel.model,
            "signatures": signatures[one.funnel.model],
            "steps": one.funnel.steps,
            "parts": one.funnel.parts,
            "filters": [
                {
                    "rows": effect.rows,
                    "left_out": effect.left_out,
                    "measures": {
                        name: dict(zip(("without", "with", "difference"), estimates, strict=True))
                        for name, estimates in effect.measures.items()
                    },
                }
                for effect in one.filters
            ],
            "notes": one.funnel.notes,
        }
        for one in results
    ]
    found: dict[str, Any] = jsonable({"models": models})
    return found
