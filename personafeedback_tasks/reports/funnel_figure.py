"""A funnel for each model: a centered bar for each step, as wide as the share that people find right, and its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..common import foreign
from ..common.statistics import Estimate, complement, percent
from ..engine.funnel import THROUGH, Funnel, FunnelSheet, FunnelStep
from .figure import COLORS, LINE, MARGIN, SIZE, STYLE, WIDTH, files, inches, wrapped

NAME = "funnel"
TITLE = "Of each step, the share that people find right, with its 95 % interval"

BAR = 0.24
"""Inches: the height of a step."""


class Bar(NamedTuple):
    """A step that is there.

    Attributes:
        share: of what is right.
        through: whether it is estimated through a judge.
    """

    label: str
    share: Estimate
    through: bool


def bars(steps: Sequence[FunnelStep], funnel: Funnel) -> list[Bar]:
    """The bars of one model."""
    found = []
    for step in steps:
        share, through = funnel.steps.get(step.name), step.name in funnel.through_judges
        if share is not None and step.drawn:
            label = f"{THROUGH if through else ''}{step.drawn}"
            found.append(Bar(label, complement(share) if step.wrong else share, through))
    return found


def draw(sheet: FunnelSheet) -> Figure:
    """One picture, the models below each other."""
    shown = [(wrapped(foreign.drawn(of.model), WIDTH - 2 * MARGIN), bars(sheet.steps, of)) for of in sheet.funnels]
    left = 2 * MARGIN + max([0.0, *(inches(bar.label) for _, steps in shown for bar in steps)])
    heights = [LINE * len(name) + BAR * max(1, len(steps)) + 2 * MARGIN for name, steps in shown]
    legend = ["Width of each step (%), with its 95 % interval"]
    if any(funnel.judged for funnel in sheet.funnels):
        legend.append(f"{THROUGH.strip()} hatched: estimated through a judge")
    below = LINE * (1 + len(legend))
    height = sum(heights) + below
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height))
        top = height
        for number, (name, steps) in enumerate(shown):
            for place, line in enumerate(name):
                figure.text(
                    MARGIN / WIDTH, (top - LINE * (place + 0.6)) / height, line, fontsize=SIZE, weight="bold", va="center", parse_math=False
                )  # fmt: skip
            size = BAR * max(1, len(steps))
            base = top - LINE * len(name) - MARGIN - size
            axes = figure.add_axes((left / WIDTH, base / height, 1 - (left + MARGIN) / WIDTH, size / height))
            _draw(axes, steps, COLORS[number % len(COLORS)])
            top -= heights[number]
        for place, line in enumerate(reversed(legend)):
            figure.text(0.5, LINE * (place + 0.8) / height, line, fontsize=SIZE, ha="center", va="center")
    return figure


def _draw(axes: Axes, steps: Sequence[Bar], color: str) -> None:
    """Full width is 100 %. The interval is at the right end of the bar, at half its length: as the bar, it spreads to both sides."""
    for place, (_, share, through) in enumerate(steps):
        hatched: dict[str, Any] = {"hatch": "///", "edgecolor": "white", "linewidth": 0} if through else {}
        axes.barh(place, 100, height=0.8, left=-50, color="0.93", zorder=0)
        width, left = 100 * share.value, -50 * share.value
        axes.barh(place, width, height=0.8, left=left, color=color, alpha=0.75, zorder=1, **hatched)
        if not math.isnan(share.low):
            axes.plot([50 * share.low, 50 * share.high], [place, place], color="0.2", linewidth=1, marker="|", zorder=2)
        axes.text(-4, place, percent(share.value), ha="right", va="center", fontsize=SIZE, zorder=3)
    axes.set(xlim=(-50, 50), ylim=(max(0.5, len(steps) - 0.5), -0.5))
    axes.set_yticks(range(len(steps)), [bar.label for bar in steps], fontsize=SIZE)
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    if not steps:
        axes.text(0, 0, "nothing was judged", ha="center", va="center", fontsize=SIZE)


def render(sheet: FunnelSheet) -> dict[str, bytes]:
    """The picture as PNG and SVG: file name -> content."""
    return files(draw(sheet), NAME)
