"""Precision over recall: the runs with their intervals, the baselines, and people's rate, of benchmarks that select something.

Selecting everything has a precision of the share that people select. On the diagonal a model selects as often as people do;
below it, more often. The curves are those of equal F1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..analysis.report import Report
from ..common import foreign
from ..common.statistics import Estimate
from ..engine.report import PRECISION, RECALL
from .figure import COLORS, HANDLE, LINE, MARGIN, MARKERS, SIZE, STYLE, WIDTH, draw_legend, files, wrapped
from .headline import PEOPLE

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
    of_benchmark: dict[str, list[Report]] = {}
    for report in reports:
        if RECALL in report.run.benchmark.corpus and not math.isnan(report.overall.measures[RECALL].value):
            of_benchmark.setdefault(report.run.benchmark.name, []).append(report)
    pictures: dict[str, bytes] = {}
    for name, some in of_benchmark.items():
        pictures |= files(draw(some), NAME if len(of_benchmark) == 1 else f"{NAME}_{name}")
    return pictures


def draw(reports: Sequence[Report]) -> Figure:
    """The picture of some runs of one benchmark."""
    runs, beside = _points(reports)
    rate = reports[0].overall.measures["human_rate"].value
    curves = ", ".join(f"{100 * level:.0f}" for level in LEVELS)
    texts = [
        *runs, *beside, f"people's rate, {100 * rate:.1f} %: the precision of selecting everything",
        "selects as often as people; below it, more often", f"equal F1 ({curves} %)",
    ]  # fmt: skip
    names = [wrapped(foreign.drawn(text), WIDTH - 3 * MARGIN - HANDLE) for text in texts]
    below = LINE * (sum(map(len, names)) + 1)
    height = SIDE + BOTTOM + below + 2 * MARGIN
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes((LEFT / WIDTH, (below + BOTTOM) / height, SIDE / WIDTH, SIDE / height))
        handles: list[Artist] = [
            _mark(axes, point, MARKERS[number % len(MARKERS)], COLORS[number % len(COLORS)], 3)
            for number, point in enumerate(runs.values())
        ]
        handles += [
            _mark(axes, point, BASELINES[number % len(BASELINES)], "0.4", 2)
            for number, point in enumerate(beside.values())
        ]
        handles.append(axes.axhline(100 * rate, color="0.4", linewidth=1, linestyle="--", zorder=1))
        handles += axes.plot([0, 100], [0, 100], color="0.4", linewidth=0.8, linestyle=":", zorder=1)
        lines = [axes.plot(*_equal_f1(level), color="0.8", linewidth=0.8, zorder=0)[0] for level in LEVELS]
        axes.set(xlim=(0, 100), ylim=(0, 100))
        axes.set_xlabel("Recall (%)", fontsize=SIZE)
        axes.set_ylabel("Precision (%)", fontsize=SIZE)
        axes.tick_params(labelsize=SIZE)
        entries = list(zip([*handles, lines[0]], names, strict=True))
        draw_legend(figure, entries, loc="lower left", bbox_to_anchor=(0, 0))
    return figure


def _points(reports: Sequence[Report]) -> tuple[dict[str, Point], dict[str, Point]]:
    """(those of the runs, those of the baselines and of people), by name; without those that select nothing."""
    runs = {f"{number} {report.run.label}": report.overall.measures for number, report in enumerate(reports, 1)}
    # Baselines are those of the first run that has data: all have the same where all have the same cases.
    judges = next((report.judges for report in reports if report.judges), None)
    beside = {**judges.baselines, **({PEOPLE: judges.people} if judges.people else {})} if judges else {}
    return _defined(runs), _defined(beside)


def _defined(measures: Mapping[str, Mapping[str, Estimate]]) -> dict[str, Point]:
    points = {name: (values[RECALL], values[PRECISION]) for name, values in measures.items()}
    return {name: point for name, point in points.items() if not any(math.isnan(axis.value) for axis in point)}


def _mark(axes: Axes, point: Point, marker: str, color: str, order: int) -> Artist:
    """A point with its intervals, within the picture where they are known."""
    recall, precision = point

    def reach(axis: Estimate) -> list[list[float]]:
        low, high = (axis.value if math.isnan(end) else min(1.0, max(0.0, end)) for end in (axis.low, axis.high))
        return [[100 * max(0.0, axis.value - low)], [100 * max(0.0, high - axis.value)]]

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
