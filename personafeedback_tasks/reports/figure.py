"""Accuracy per cell with its interval, and the baselines behind it: a forest plot for one column of a paper.

Runs are below each other, each under its whole name, so more runs make a taller picture. Everything is placed in inches.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import TextToPath

from ..analysis.groups import Group
from ..analysis.report import Report
from ..common import foreign
from ..logs.caveat import VOID
from .sentences import first_sentence

NAME = "accuracy"
"""Name of its files."""

WIDTH = 3.5
"""Inches: one column of a paper."""

MARGIN, RIGHT, LINE, LABELS = 0.08, 0.2, 0.145, 1.1
"""Inches: around everything; beside the axes, for half of a `100` below them; the height of a line; the widest that the
names of cells may be."""

INSIDE = WIDTH - 2 * MARGIN

HANDLE = 0.33
"""Inches: the mark before a name in the legend."""

SIZE = 7.5
"""Points of all text."""

MOST_PIXELS = 60_000
"""Limit of a side: matplotlib draws at most 65,536 pixels."""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's palette, which color-blind readers can tell apart; the seventh run has the first color again."""

MARKERS = "osD^vP"
BEHIND: Any = {"color": "0.4", "linewidth": 1.2, "zorder": 1}
STYLE: Any = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,  # it would cross the names
    "svg.fonttype": "none",
    "svg.hashsalt": "personafeedback-tasks",  # the same report, the same bytes
}


def draw(reports: Sequence[Report]) -> Figure:
    """One figure for some runs."""
    heading: list[tuple[str, float]] = []  # (line of a name, its place in lines from the top)
    labels: list[list[list[str]]] = []  # run -> row -> lines of its name
    places: list[list[float]] = []
    lines = 0.0
    for report in reports:
        for line in (line for text in names(report) for line in wrapped(foreign.line(text), INSIDE)):
            heading.append((line, lines + 0.5))
            lines += 1
        own = [wrapped(foreign.line(group.name.replace("_", " ").capitalize()), LABELS) for group in _groups(report)]
        labels.append(own)
        places.append([])
        for label in own:
            places[-1].append(lines + len(label) / 2)
            lines += len(label)
        lines += 0.5
    legend = [(line, dashes) for name, dashes in _behind(reports).items() for line, dashes in _entry(name, dashes)]
    below = wrapped(_axis(reports), INSIDE)
    bottom = LINE * (len(below) + 2)
    height = LINE * (len(legend) + 0.5 + lines) + bottom
    left = 2 * MARGIN + max([0.0, *(inches(line) for own in labels for label in own for line in label)])
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes((left / WIDTH, bottom / height, 1 - (left + RIGHT) / WIDTH, LINE * lines / height))
        for number, (report, of_run) in enumerate(zip(reports, places, strict=True)):
            _draw_run(axes, report, of_run, number)
        axes.set_ylim(lines, 0)
        ticks = ["\n".join(label) for own in labels for label in own]
        axes.set_yticks([place for of_run in places for place in of_run], ticks, parse_math=False, linespacing=1)
        axes.tick_params(labelsize=SIZE)
        axes.tick_params(axis="y", length=0)
        axes.margins(x=0.05)
        for number, (line, dashes) in enumerate(legend):
            y = height - LINE * (number + 0.75)
            _write(figure, line, MARGIN + HANDLE, y)
            if dashes:
                mark: Any = {**BEHIND, "linestyle": dashes}
                ends = (MARGIN / WIDTH, (MARGIN + 0.8 * HANDLE) / WIDTH)
                figure.add_artist(Line2D(ends, [y / height] * 2, **mark))
        for line, place in heading:
            _write(figure, line, MARGIN, bottom + LINE * (lines - place), weight="bold")
        for number, line in enumerate(reversed(below)):
            _write(figure, line, WIDTH / 2, LINE * (number + 0.6), ha="center")
    return figure


def names(report: Report) -> list[str]:
    """What a run is called, and what makes its numbers void."""
    return [report.run.label, *(first_sentence(caveat) for caveat in report.caveats if caveat.severity == VOID)]


def _groups(report: Report) -> list[Group]:
    return sorted(report.groups, key=lambda group: "_" not in group.name)  # the cells first


def _axis(reports: Sequence[Report]) -> str:
    score = " or ".join(dict.fromkeys(report.run.score_name for report in reports))
    per_case = {report.run.method.per_case for report in reports}
    over = f" over {per_case.pop()}" if len(per_case) == 1 else ""
    return f"{score}{over}, 95 % interval (%)"


def _behind(reports: Sequence[Report]) -> dict[str, str]:
    # name of a baseline -> its dashes
    specs = [report.run.benchmark.report for report in reports]
    found = {label: dashes for spec in specs for label, dashes in spec.drawn.values()}
    return found | ({"Chance": "--"} if any(spec.chance is not None for spec in specs) else {})


def _entry(name: str, dashes: str) -> list[tuple[str, str]]:
    first, *rest = wrapped(foreign.line(name), INSIDE - HANDLE)
    return [(first, dashes), *((line, "") for line in rest)]


def _draw_run(axes: Any, report: Report, places: Sequence[float], number: int) -> None:
    found = [group.measures[report.run.primary] for group in _groups(report)]
    values = [100 * one.value for one in found]
    errors = [[100 * (one.value - one.low) for one in found], [100 * (one.high - one.value) for one in found]]
    style = {"marker": MARKERS[number % len(MARKERS)], "color": COLORS[number % len(COLORS)]}
    axes.errorbar(
        values, places, xerr=errors, markersize=4, linestyle="none", capsize=2, elinewidth=1, zorder=3, **style
    )
    spec = report.run.benchmark.report
    for group, place in zip(_groups(report), places, strict=True):
        for name, (_, dashes) in spec.drawn.items():
            if baseline := group.baselines.get(name):
                axes.vlines(100 * baseline.value, place - 0.4, place + 0.4, linestyles=dashes, **BEHIND)
    if spec.chance is not None and places:  # the same everywhere: one line through the cells of a run
        axes.vlines(100 * spec.chance, places[0] - 0.5, places[-1] + 0.5, linestyles="--", **BEHIND)


def _write(figure: Figure, line: str, x: float, y: float, **style: Any) -> None:
    width, height = figure.get_size_inches()
    figure.text(x / width, y / height, line, fontsize=SIZE, va="center", parse_math=False, **style)


def wrapped(text: str, width: float) -> list[str]:
    """The lines of a text that are at most `width` inches wide, broken after spaces, slashes and hyphens where possible."""
    lines = [""]
    for piece in re.findall(r"[^\s/,_-]*(?:[\s/,_-]|\Z)", text):
        if inches(lines[-1] + piece.rstrip()) > width and lines[-1]:
            lines.append("")
        for char in piece:
            if inches(lines[-1] + char) > width and not char.isspace():
                lines.append("")
            lines[-1] += char
    return [line.rstrip() for line in lines]


def inches(text: str) -> float:
    """The width of a text in bold, the widest that it is drawn in."""
    return sum(map(_of_char, text))


@lru_cache(maxsize=10_000)
def _of_char(char: str) -> float:
    font = FontProperties(size=SIZE, weight="bold")
    width, _, _ = TextToPath().get_text_width_height_descent(char, font, ismath=False)
    return float(width) / 72


def render(reports: Sequence[Report]) -> dict[str, bytes]:
    """The figure of `draw` as PNG (300 dpi, less for a very tall one) and SVG: file name -> content."""
    drawn, png, svg = draw(reports), BytesIO(), BytesIO()
    with rc_context(STYLE):
        drawn.savefig(png, format="png", dpi=min(300, int(MOST_PIXELS / max(drawn.get_size_inches()))))
        drawn.savefig(svg, format="svg", metadata={"Date": None})
    return {f"{NAME}.png": png.getvalue(), f"{NAME}.svg": svg.getvalue()}
