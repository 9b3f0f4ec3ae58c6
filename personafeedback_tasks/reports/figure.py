"""Accuracy per cell with its interval, and the baselines behind it: a forest plot for one column of a paper.

Runs stand below each other, each under its whole name, their cells beside the axis. So no name has to fit beside the
points, and more runs make a taller picture. Everything is placed in inches: what is written decides how tall it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from ..analysis.report import Report
from ..common import foreign
from ..common.statistics import Estimate
from ..logs.caveat import VOID
from .sentences import first_sentence

NAME = "accuracy"
"""Name of its files."""

WIDTH = 3.5
"""Inches: one column of a paper."""

MARGIN, RIGHT, LINE, LABELS = 0.08, 0.2, 0.145, 1.1
"""Inches: around everything; beside the axes, for half of a `100` below them; the height of a line; the widest that the
names of cells may be."""

HANDLE = 0.33
"""Inches: the mark before a name in the legend."""

SIZE = 7.5
"""Points of all text."""

CHANCE = "Chance"

MOST_PIXELS = 60_000
"""Limit of a side: matplotlib draws at most 65,536 pixels."""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's palette, which color-blind readers can tell apart; the seventh run has the first color again."""

MARKERS = "osD^vP"
STYLE: Any = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "personafeedback-tasks",  # the same report, the same bytes
}


@dataclass(frozen=True)
class FigureBlock:
    """A run.

    Attributes:
        names: what it is called, and what makes its numbers void.
        rows: (name of a cell or group, its value and interval).
    """

    names: list[str]
    rows: list[tuple[str, Estimate]]
    report: Report


def draw(reports: Sequence[Report]) -> Figure:
    """One figure for some runs."""
    blocks = [_of_run(report) for report in reports]
    labels = {name: wrapped(foreign.line(_title(name)), LABELS) for block in blocks for name, _ in block.rows}
    rows, heading, lines = _places(blocks, labels)
    legend = _legend(reports)
    below = wrapped(_axis(reports), WIDTH - 2 * MARGIN)
    tallest = max(sum(len(name) for _, name in column) for column in legend) if legend else 0
    top, bottom = LINE * (tallest + 0.5), LINE * (len(below) + 2)
    height = top + LINE * lines + bottom
    left = 2 * MARGIN + max([0.0, *(inches(line) for name in labels.values() for line in name)])
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes((left / WIDTH, bottom / height, 1 - (left + RIGHT) / WIDTH, LINE * lines / height))
        for number, (block, places) in enumerate(zip(blocks, rows, strict=True)):
            _draw_points(axes, block, places, number)
        axes.spines.left.set_visible(False)  # it would cross the names
        handles = _draw_baselines(axes, blocks, rows)
        axes.set_ylim(lines, 0)
        ticks = [place for places in rows for place in places]
        names = ["\n".join(labels[name]) for block in blocks for name, _ in block.rows]
        axes.set_yticks(ticks, names, parse_math=False, linespacing=1)
        axes.tick_params(labelsize=SIZE)
        axes.tick_params(axis="y", length=0)
        axes.margins(x=0.05)
        for line, place in heading:
            _write(figure, line, MARGIN, height - top - LINE * place, weight="bold")
        for number, line in enumerate(reversed(below)):
            _write(figure, line, WIDTH / 2, LINE * (number + 0.6), ha="center")
        entries = [(handles[label], name) for column in legend for label, name in column if label in handles]
        if entries:
            _draw_legend(figure, entries, loc="upper left", bbox_to_anchor=(0, 1), ncols=len(legend), columnspacing=1)
    return figure


def _of_run(report: Report) -> FigureBlock:
    primary = report.run.primary
    groups = sorted(report.groups, key=lambda group: "_" not in group.name)  # the cells first
    names = [report.run.label, *(first_sentence(caveat) for caveat in report.caveats if caveat.severity == VOID)]
    return FigureBlock(names, [(group.name, group.measures[primary]) for group in groups], report)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _axis(reports: Sequence[Report]) -> str:
    score = " or ".join(dict.fromkeys(report.run.score_name for report in reports))
    per_case = {report.run.method.per_case for report in reports}
    over = f" over {per_case.pop()}" if len(per_case) == 1 else ""
    return f"{score}{over}, 95 % interval (%)"


def _places(
    blocks: Sequence[FigureBlock], labels: Mapping[str, Sequence[str]]
) -> tuple[list[list[float]], list[tuple[str, float]], float]:
    # (the places of each block's rows, (line of a name, its place), number of lines), in lines from the top
    rows: list[list[float]] = []
    heading: list[tuple[str, float]] = []
    top = 0.0
    for block in blocks:
        for line in (line for text in block.names for line in wrapped(foreign.line(text), WIDTH - 2 * MARGIN)):
            heading.append((line, top + 0.5))
            top += 1
        rows.append([])
        for name, _ in block.rows:
            rows[-1].append(top + len(labels[name]) / 2)
            top += len(labels[name])
        top += 0.5
    return rows, heading, top


def _draw_points(axes: Axes, block: FigureBlock, places: Sequence[float], number: int) -> None:
    values = [100 * estimate.value for _, estimate in block.rows]
    style: Any = {"marker": MARKERS[number % len(MARKERS)], "markersize": 4, "linestyle": "none"}
    errors = [
        [100 * (estimate.value - estimate.low) for _, estimate in block.rows],
        [100 * (estimate.high - estimate.value) for _, estimate in block.rows],
    ]
    axes.errorbar(
        values, places, xerr=errors, color=COLORS[number % len(COLORS)], capsize=2, elinewidth=1, zorder=3, **style
    )


def _draw_baselines(axes: Axes, blocks: Sequence[FigureBlock], rows: Sequence[Sequence[float]]) -> dict[str, Artist]:
    # chance is the same everywhere: one line through the cells of a run
    drawn: dict[str, Artist] = {}
    style: Any = {"colors": "0.4", "linewidth": 1.2, "zorder": 1}
    for block, places in zip(blocks, rows, strict=True):
        spec = block.report.run.benchmark.report
        for (group, _), place in zip(block.rows, places, strict=True):
            for name, (label, dashes) in spec.drawn.items():
                if baseline := block.report.by_name[group].baselines.get(name):
                    value = 100 * baseline.value
                    drawn[label] = axes.vlines(value, place - 0.4, place + 0.4, linestyles=dashes, **style)
        if spec.chance is not None and places:
            value = 100 * spec.chance
            drawn[CHANCE] = axes.vlines(value, places[0] - 0.5, places[-1] + 0.5, linestyles="--", **style)
    return drawn


def _legend(reports: Sequence[Report]) -> list[list[tuple[str, list[str]]]]:
    # all beside each other if they fit, else one column
    specs = [report.run.benchmark.report for report in reports]
    labels = [*dict.fromkeys(label for spec in specs for label, _ in spec.drawn.values())]
    labels += [CHANCE] if any(spec.chance is not None for spec in specs) else []
    named = [(label, wrapped(foreign.line(label), WIDTH - 2 * MARGIN - HANDLE)) for label in labels]
    if sum(inches(foreign.line(label)) + HANDLE + MARGIN for label in labels) <= WIDTH - 2 * MARGIN:
        return [[entry] for entry in named]
    return [named]


def _draw_legend(figure: Figure, entries: Sequence[tuple[Artist, Sequence[str]]], **place: Any) -> None:
    # matplotlib leaves out names that begin with `_`, and reads formulas between dollar signs
    legend = figure.legend(
        [handle for handle, _ in entries], [""] * len(entries), frameon=False, fontsize=SIZE, handlelength=2, labelspacing=0.3,
        borderpad=0.3, borderaxespad=0, **place,
    )  # fmt: skip
    for text, (_, lines) in zip(legend.get_texts(), entries, strict=True):
        text.set(text="\n".join(lines), parse_math=False, linespacing=1)


def _write(figure: Figure, line: str, x: float, y: float, **style: Any) -> None:
    width, height = figure.get_size_inches()
    figure.text(x / width, y / height, line, fontsize=SIZE, va="center", parse_math=False, **style)


def wrapped(text: str, width: float) -> list[str]:
    """The lines of a text that are at most `width` inches wide, broken after spaces, slashes and hyphens where
    possible."""
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
