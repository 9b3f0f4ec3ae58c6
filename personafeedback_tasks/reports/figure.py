"""Accuracy per cell with its interval, and the baselines behind it: a forest plot for one column of a paper.

The runs are below each other in every cell, so more runs make a taller picture.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..analysis.report import Report
from ..common import foreign
from ..logs.caveat import VOID
from .sentences import first_sentence

NAME = "accuracy"
"""Name of its files."""

WIDTH, LINE = 3.5, 0.15
"""Inches: one column of a paper; the height of a line."""

LONGEST = 48
"""Characters of a line of the legend."""

MOST_PIXELS = 60_000
"""Limit of a side: matplotlib draws at most 65,536 pixels."""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's palette, which color-blind readers can tell apart."""

MARKERS = "osD^v"
BEHIND: Any = {"color": "0.4", "linewidth": 1.2, "zorder": 1}
STYLE: Any = {
    "font.size": 7.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "personafeedback-tasks",  # the same report, the same bytes
}


def draw(reports: Sequence[Report]) -> Figure:
    """One figure for some runs."""
    every = dict.fromkeys(group.name for report in reports for group in report.groups)
    groups = sorted(every, key=lambda name: "_" not in name)  # the cells first
    labels = ["\n".join(line for text in names(report) for line in _wrapped(text)) for report in reports]
    baselines = {label: dashes for report in reports for label, dashes in report.run.benchmark.report.drawn.values()}
    if any(report.run.benchmark.report.chance is not None for report in reports):
        baselines["Chance"] = "--"
    lines = len(groups) * len(reports) + sum(label.count("\n") + 1 for label in labels) + len(baselines)
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, LINE * (lines + 6)), layout="constrained")
        axes = figure.subplots()
        step = 0.9 / max(1, len(reports))
        handles: list[Any] = []
        for number, report in enumerate(reports):
            style = {"marker": MARKERS[number % len(MARKERS)], "color": COLORS[number % len(COLORS)]}
            above = step * (number - (len(reports) - 1) / 2)
            handles.append(
                _draw_run(axes, report, [groups.index(group.name) + above for group in report.groups], step, style)
            )
        handles += [Line2D([], [], linestyle=dashes, **BEHIND) for dashes in baselines.values()]
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.set_yticks(range(len(groups)), [foreign.line(name.replace("_", " ").capitalize()) for name in groups])
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("\n".join(textwrap.wrap(_axis(reports), LONGEST)))
        entries = [*labels, *baselines]
        # the texts come later: a legend leaves out names that begin with an underscore
        legend = figure.legend(handles, ["-" for _ in entries], loc="outside upper left", frameon=False)
        for text, entry in zip(legend.get_texts(), entries, strict=True):
            text.set_parse_math(False)  # a dollar sign is part of a name
            text.set_text(entry)
    return figure


def names(report: Report) -> list[str]:
    """What a run is called, and what makes its numbers void."""
    return [report.run.label, *(first_sentence(caveat) for caveat in report.caveats if caveat.severity == VOID)]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(foreign.line(text), LONGEST)


def _axis(reports: Sequence[Report]) -> str:
    score = " or ".join(dict.fromkeys(report.run.score_name for report in reports))
    per_case = {report.run.method.per_case for report in reports}
    over = f" over {per_case.pop()}" if len(per_case) == 1 else ""
    return f"{score}{over}, 95 % interval (%)"


def _draw_run(axes: Any, report: Report, places: Sequence[float], height: float, style: Any) -> Any:
    spec = report.run.benchmark.report
    found = [group.measures[report.run.primary] for group in report.groups]
    values = [100 * one.value for one in found]
    errors = [[100 * (one.value - one.low) for one in found], [100 * (one.high - one.value) for one in found]]
    for group, place in zip(report.groups, places, strict=True):
        known = [
            (group.measures[name].value, dashes) for name, (_, dashes) in spec.drawn.items() if name in group.measures
        ]
        for value, dashes in [*known, *([(spec.chance, "--")] if spec.chance is not None else [])]:
            axes.vlines(100 * value, place - height / 2, place + height / 2, linestyles=dashes, **BEHIND)
    return axes.errorbar(
        values, places, xerr=errors, markersize=4, linestyle="none", capsize=2, elinewidth=1, zorder=3, **style
    )


def render(reports: Sequence[Report]) -> dict[str, bytes]:
    """The figure of `draw` as PNG (300 dpi, less for a very tall one) and SVG: file name -> content."""
    drawn, png, svg = draw(reports), BytesIO(), BytesIO()
    with rc_context(STYLE):
        dpi = min(300, int(MOST_PIXELS / max(drawn.get_size_inches())))
        drawn.savefig(png, format="png", dpi=dpi, bbox_inches="tight")  # a wide name widens the picture
        drawn.savefig(svg, format="svg", metadata={"Date": None}, bbox_inches="tight")
    return {f"{NAME}.png": png.getvalue(), f"{NAME}.svg": svg.getvalue()}
