"""A funnel as reports show it: what is left of each step of a model's work. A benchmark with several steps fills it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..common.statistics import Estimate

PERCENT, POINTS, SIGNED, RATIO = "percent", "points", "signed", "ratio"
"""Units: a share, a difference of shares, a number with its sign, a number from 0 on."""


@dataclass(frozen=True)
class FunnelStep:
    """A share of the funnel.

    Attributes:
        meaning: what it is the share of, without a period.
    """

    name: str
    label: str
    meaning: str


@dataclass(frozen=True)
class Funnel:
    """What is left of one model's work after each step.

    Attributes:
        steps: name -> its share; only shares that can be formed.
        parts: split -> part -> step -> its share there.
        notes: what is absent and why, and how much was judged, in sentences.
    """

    model: str
    steps: Mapping[str, Estimate]
    parts: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    notes: Sequence[str]


@dataclass(frozen=True)
class FunnelTable:
    """Further numbers, in one table for all models.

    Attributes:
        rows: (label, of each column (the number or None, its unit)).
        note: sentences below it.
    """

    heading: str
    corner: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[Estimate | None, str]]]]
    note: str


@dataclass(frozen=True)
class FunnelSheet:
    """All that is shown of some models.

    Attributes:
        named: (split, part) -> how a row calls it.
        about: what goes for all shares, in a sentence.
    """

    title: str
    steps: Sequence[FunnelStep]
    funnels: Sequence[Funnel]
    named: Callable[[str, str], str]
    about: str
    tables: Sequence[FunnelTable] = ()
