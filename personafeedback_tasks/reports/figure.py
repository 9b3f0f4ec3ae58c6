"""Accuracy per cell with its interval, and the baselines behind it: a figure for one column of a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..common import foreign
from ..common.errors import OptionError
from .report import Report

WIDTH = 3.5
"""Inches: one column of a paper."""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's palette, which color-blind readers can tell apart; markers differ too."""

MARKERS = "osD^vP"
STYLE: Any = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "personafeedback-tasks",  # the same report, the same bytes
}


def draw(reports: Sequence[Report]) -> Figure:
    """One figure for some runs; their groups stand side by side, each with its baselines.

    Args:
        reports: at most six, the number of distinct colors.

    Raises:
        OptionError: there are more.
    """
    if len(reports) > len(COLORS):
        raise OptionError(
            f"A figure shows at most {len(COLORS)} runs, the number of distinct colors, got {len(reports)}. "
            "Report them in parts, each with its own --out, or leave --out out."
        )
    names = list(dict.fromkeys(group.name for report in reports for group in report.groups))
    order = [name for name in names if "_" in name] + [name for name in names if "_" not in name]
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 0.9 + 0.11 * len(reports) + 0.27 * len(order)), layout="constrained")
        axes = figure.add_subplot()
        behind = _draw_baselines(axes, reports, order)
        points = []
        for index, report in enumerate(reports):
            shift = 0.5 * ((index + 0.5) / len(reports) - 0.5)
            groups = [(place, report.by_name[name]) for place, name in enumerate(order) if name in report.by_name]
            acc = [group.measures[report.run.benchmark.report.primary] for _, group in groups]
            bars = axes.errorbar(
                [100 * estimate.value for estimate in acc],
                [place + shift for place, _ in groups],
                xerr=[
                    [100 * (estimate.value - estimate.low) for estimate in acc],
                    [100 * (estimate.high - estimate.value) for estimate in acc],
                ],
                fmt=MARKERS[index],
                color=COLORS[index],
                markersize=4,
                capsize=2,
                elinewidth=1,
                zorder=3,
            )
            points.append((foreign.figure(report.run.label), bars))
        outside = _draw_published(axes, reports, order)
        axes.set_yticks(range(len(order)), [name.replace("_", " ").capitalize() for name in order])
        axes.set_ylim(len(order) - 0.5, -0.5)
        per_case = {report.run.method.per_case for report in reports}
        over = f" over {per_case.pop()}" if len(per_case) == 1 else ""
        hollow = "\nHollow marks: published, not comparable" if outside else ""
        axes.set_xlabel(f"{_score(reports)}{over}, 95 % interval (%){hollow}")
        axes.margins(x=0.05)
        _draw_legend(figure, [*behind.items(), *outside.items(), *points])
    return figure


def _score(reports: Sequence[Report]) -> str:
    return " or ".join(dict.fromkeys(report.run.benchmark.report.score for report in reports))


def _draw_legend(figure: Figure, entries: Sequence[tuple[str, Any]]) -> None:
    """Name every entry as it is: matplotlib leaves out names that begin with `_`, and reads formulas between dollar signs."""
    names, handles = zip(*entries, strict=True)
    legend = figure.legend(
        handles, [""] * len(names), loc="outside upper left", frameon=False, ncols=2, fontsize=7, columnspacing=1,
        handlelength=1.8,
    )  # fmt: skip
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=name, parse_math=False)


def _draw_baselines(axes: Axes, reports: Sequence[Report], order: Sequence[str]) -> Mapping[str, Artist]:
    """Label -> one of its lines, for the legend. Chance is the same everywhere: one line through all groups."""
    drawn: dict[str, Artist] = {}
    spec = reports[0].run.benchmark.report
    for name, (label, style) in spec.drawn.items():
        for place, group in enumerate(order):
            values = {
                report.by_name[group].baselines[name].value
                for report in reports
                if group in report.by_name and name in report.by_name[group].baselines
            }
            for value in sorted(values):
                drawn[label] = axes.vlines(
                    100 * value, place - 0.4, place + 0.4, colors="0.4", linestyles=style, linewidth=1.2, zorder=1
                )
    if spec.chance is not None:
        drawn["Chance"] = axes.axvline(100 * spec.chance, color="0.4", linestyle="--", linewidth=1.2, zorder=1)
    return drawn


def _draw_published(axes: Axes, reports: Sequence[Report], order: Sequence[str]) -> Mapping[str, Artist]:
    """Label -> hollow marks, below the points and apart from them: numbers of others are not comparable."""
    rows = {label: values for report in reports if report.published for label, values in report.published.rows.items()}
    drawn: dict[str, Artist] = {}
    for index, (label, values) in enumerate(rows.items()):
        there = [(place, values[name]) for place, name in enumerate(order) if name in values]
        if there:
            (drawn[foreign.figure(label)],) = axes.plot(
                [100 * value for _, value in there], [place + 0.38 for place, _ in there], linestyle="none",
                marker=MARKERS[1:][index % 4], markerfacecolor="none", color="0.4", markersize=4, zorder=2,
            )  # fmt: skip
    return drawn


def render(reports: Sequence[Report], name: str = "accuracy") -> dict[str, bytes]:
    """The figure of `draw`: file name -> content."""
    return files(draw(reports), name)


def files(figure: Figure, name: str) -> dict[str, bytes]:
    """A figure as PNG (300 dpi) and SVG: file name -> content."""
    png, svg = BytesIO(), BytesIO()
    with rc_context(STYLE):
        figure.savefig(png, format="png", dpi=300)
        figure.savefig(svg, format="svg", metadata={"Date": None})
    return {f"{name}.png": png.getvalue(), f"{name}.svg": svg.getvalue()}
