"""The correlations between a reward model's outputs, and with the better response, as a heat map."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib import colormaps, rc_context
from matplotlib.figure import Figure
from matplotlib.text import Text

from ..analysis.aspects import Aspects
from ..analysis.report import Report
from ..common import foreign
from .figure import STYLE, files
from .table import NOTHING

TITLE = "Correlations between the aspects and with the better response"

CELL, BESIDE, ABOVE = 0.42, 1.0, 0.4
"""Inches: the side of a cell; room for the scale; room for the title."""

COLORS = "RdBu"
"""From red (-1) over white to blue (1), which color-blind readers can tell apart; each cell has its number, too."""


def draw(report: Report, aspects: Aspects) -> Figure:
    """The heat map of all cases of a run."""
    labels = [foreign.figure(name) for name in (aspects.better, *aspects.names)]
    rows = matrix(aspects, report.overall.name)
    colors = colormaps[COLORS].with_extremes(bad="0.85")
    with rc_context(STYLE):
        figure = Figure(layout="constrained")
        axes = figure.add_subplot()
        image = axes.imshow(rows, cmap=colors, vmin=-1, vmax=1)
        places = range(len(labels))
        axes.set_xticks(places, labels, rotation=90, parse_math=False)
        axes.set_yticks(places, labels, parse_math=False)
        for row in places:
            for column in places:
                value = rows[row][column]
                color = "white" if abs(value) > 0.6 else "black"
                axes.text(column, row, number(value), ha="center", va="center", fontsize=7, color=color)
        title = figure.suptitle(foreign.figure(report.run.label), fontsize=8, parse_math=False)
        figure.colorbar(image, ax=axes, shrink=0.8, ticks=(-1, -0.5, 0, 0.5, 1), label="Pearson correlation")
        side = CELL * len(labels) + max(_inches(label, figure) for label in axes.get_yticklabels())
        figure.set_size_inches(max(side + BESIDE, _inches(title, figure) + 0.2), side + ABOVE)
    return figure


def _inches(text: Text, figure: Figure) -> float:
    """The width of a text of the figure."""
    return float(text.get_window_extent().width / figure.dpi)


def matrix(aspects: Aspects, group: str) -> list[list[float]]:
    """The better response first, then the aspects: the correlation of every two."""
    numbers = aspects.groups[group]
    with_better = [numbers.pearson[name] for name in aspects.names]
    between = [[numbers.correlations[name][other] for other in aspects.names] for name in aspects.names]
    return [[1.0, *with_better], *([r, *row] for r, row in zip(with_better, between, strict=True))]


def number(value: float) -> str:
    """What a cell says."""
    return NOTHING if math.isnan(value) else f"{round(value, 2) + 0.0:.2f}"  # never -0.00


def render(reports: Sequence[Report]) -> list[dict[str, bytes]]:
    """The heat map of each report, file name -> content; empty for one without aspects.

    The files are `aspects.png` and `aspects.svg`; of several reports `aspects_1.png` and so on, by their places.
    """
    names = ["aspects"] if len(reports) == 1 else [f"aspects_{place}" for place in range(1, len(reports) + 1)]
    return [
        files(draw(report, report.aspects), name) if report.aspects else {}
        for name, report in zip(names, reports, strict=True)
    ]
