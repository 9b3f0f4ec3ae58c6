"""Precision over recall: the runs with their intervals, the baselines, and people's rate, of benchmarks that select something.

Selecting everything has a precision of the share that people select. On the diagonal a model selects as often as people do;
below it, more often. The curves are those of equal F1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..analysis.report import Report
from ..common import foreign
from ..common.statistics import Estimate
from ..engine.report import PRECISION, RECALL
from .figure import COLORS, HANDLE, LINE, MARGIN, MARKERS, SIZE, STYLE, WIDTH, files, wrapped
from .judges_text import PEOPLE

TITLE = "Precision over recall, with 95 % intervals and baselines"
NAME = "precision_recall"

LEFT, BOTTOM, SIDE = 0.55, 0.4, WIDTH - 0.55 - 0.15
"""Inches: beside and below the axes, for their numbers; the side of the square."""

LEVELS = (0.2, 0.4, 0.6, 0.8)
"""Of F1, whose curves are drawn."""

BASELINES = "xd*8p"
"""Their marks, all in gray."""

Point = tuple[Estimate, Estimate]
"""(recall, precision)."""


def render(reports: Sequence[Report]) -> dict[str, bytes]:
    """One picture for each benchmark that has one: file name -> content. Those of several benchmarks bear its name."""
    of: dict[str, list[Report]] = {}
    for report in reports:
        if RECALL in report.run.benchmark.corpus and not math.isnan(report.overall.measures[RECALL].value):
            of.setdefault(report.run.benchmark.name, []).append(report)
    found: dict[str, bytes] = {}
    for name, some in of.items():
        found |= files(draw(some), NAME if len(of) == 1 else f"{NAME}_{name}")
    return found


def draw(reports: Sequence[Report]) -> Figure:
    """The picture of some runs of one benchmark."""
    names = [wrapped(foreign.drawn(text), WIDTH - 3 * MARGIN - HANDLE) for text in _names(reports)]
    below = LINE * (sum(map(len, names)) + 1)
    height = SIDE + BOTTOM + below + 2 * MARGIN
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes((LEFT / WIDTH, (below + BOTTOM) / height, SIDE / WIDTH, SIDE / height))
        handles = _draw(axes, reports)
        axes.set(xlim=(0, 100), ylim=(0, 100))
        axes.set_xlabel("Recall (%)", fontsize=SIZE)
        axes.set_ylabel("Precision (%)", fontsize=SIZE)
        axes.tick_params(labelsize=SIZE)
        legend = figure.legend(
            handles, [""] * len(handles), loc="lower left", bbox_to_anchor=(0, 0), frameon=False, fontsize=SIZE,
            handlelength=2, labelspacing=0.3, borderpad=0.3, borderaxespad=0,
        )  # fmt: skip
        for text, name in zip(legend.get_texts(), names, strict=True):
            text.set(text="\n".join(name), parse_math=False, linespacing=1)
    return figure


def _points(reports: Sequence[Report]) -> tuple[dict[str, Point], dict[str, Point]]:
    """(those of the runs, those of the baselines and of people), by name; without those that select nothing."""
    runs = {
        f"{number} {report.run.label}": (report.overall.measures[RECALL], report.overall.measures[PRECISION])
        for number, report in enumerate(reports, 1)
    }
    # Baselines are those of the first run that has data: all have the same where all have the same cases.
    judges = next((report.judges for report in reports if report.judges), None)
    known = {**judges.baselines, **({PEOPLE: judges.people} if judges.people else {})} if judges else {}
    beside = {name: (found[RECALL], found[PRECISION]) for name, found in known.items()}
    return _defined(runs), _defined(beside)


def _defined(points: Mapping[str, Point]) -> dict[str, Point]:
    return {name: point for name, point in points.items() if not any(math.isnan(one.value) for one in point)}


def _rate(reports: Sequence[Report]) -> float:
    return reports[0].overall.measures["human_rate"].value


def _names(reports: Sequence[Report]) -> list[str]:
    runs, beside = _points(reports)
    rate = f"{100 * _rate(reports):.1f} %"
    curves = ", ".join(f"{100 * level:.0f}" for level in LEVELS)
    return [
        *runs, *beside, f"people's rate, {rate}: the precision of selecting everything",
        "selects as often as people; below it, more often", f"equal F1 ({curves} %)",
    ]  # fmt: skip


def _draw(axes: Axes, reports: Sequence[Report]) -> list[Artist]:
    """The marks and lines, in the order of `_names`."""
    runs, beside = _points(reports)
    rate = 100 * _rate(reports)
    curve: Any = {"color": "0.8", "linewidth": 0.8, "zorder": 0}
    handles: list[Artist] = []
    for number, point in enumerate(runs.values()):
        handles.append(_mark(axes, point, MARKERS[number % len(MARKERS)], COLORS[number % len(COLORS)], 3))
    for number, point in enumerate(beside.values()):
        handles.append(_mark(axes, point, BASELINES[number % len(BASELINES)], "0.4", 2))
    handles.append(axes.axhline(rate, color="0.4", linewidth=1, linestyle="--", zorder=1))
    handles += axes.plot([0, 100], [0, 100], color="0.4", linewidth=0.8, linestyle=":", zorder=1)
    lines = [axes.plot(*_equal_f1(level), **curve)[0] for level in LEVELS]
    handles.append(lines[0])
    return handles


def _mark(axes: Axes, point: Point, marker: str, color: str, order: int) -> Artist:
    """A point with its intervals, within the picture where they are known."""
    recall, precision = point

    def reach(one: Estimate) -> list[list[float]]:
        low, high = (one.value if math.isnan(end) else min(1.0, max(0.0, end)) for end in (one.low, one.high))
        return [[100 * max(0.0, one.value - low)], [100 * max(0.0, high - one.value)]]

    axes.errorbar(
        [100 * recall.value], [100 * precision.value], xerr=reach(recall), yerr=reach(precision), fmt=marker, color=color,
        markersize=4, capsize=2, elinewidth=0.8, zorder=order, clip_on=False,
    )  # fmt: skip
    (handle,) = axes.plot([], [], marker, color=color, markersize=4)
    return handle


def _equal_f1(level: float) -> tuple[list[float], list[float]]:
    """Recalls and precisions with this F1, in percent: precision = F1 recall / (2 recall - F1)."""
    least = level / (2 - level)
    recalls = [least + (1 - least) * step / 100 for step in range(101)]
    return [100 * recall for recall in recalls], [100 * level * recall / (2 * recall - level) for recall in recalls]
