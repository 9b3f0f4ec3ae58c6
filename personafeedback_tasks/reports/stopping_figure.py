"""A run that stops when it is decided, as a picture: the interval of its sequence after each user."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.figure import Figure

from ..analysis.control import measure_of
from ..analysis.report import Report
from ..engine.stopping import DECISIONS, StopState, read_rule
from .figure import COLORS, STYLE, WIDTH, files

TITLE = "The interval after each user, and where the run ended"

HEIGHT = 2.2
"""Inches."""

SHOWN = 60
"""Points on either side of 0: the interval after the first dozen users is wider, and says nothing."""


def draw(known: StopState, name: str) -> Figure:
    """The picture of one run.

    Args:
        name: of what it stops by.
    """
    users = range(1, len(known.intervals) + 1)
    low, high = ([100 * interval[end] for interval in known.intervals] for end in (0, 1))
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = figure.add_subplot()
        axes.fill_between(users, low, high, color=COLORS[0], alpha=0.25, linewidth=0)
        axes.plot(users, low, users, high, color=COLORS[0], linewidth=1)
        axes.vlines(len(low), low[-1], high[-1], color=COLORS[1], linewidth=2)
        if not known.accuracy:
            margin = 100 * read_rule(known.rule).margin
            axes.axhline(0, color="0.4", linewidth=0.8)
            shown = max(SHOWN, 1.1 * max(-low[-1], high[-1]))
            axes.set_ylim(-shown, shown)
            for end in (-margin, margin):
                axes.axhline(end, color="0.4", linewidth=0.8, linestyle=":")
        axes.set_xlim(1, known.of)
        axes.set_xlabel("users")
        axes.set_ylabel(f"{name}, points", parse_math=False)
        axes.set_title(
            f"{DECISIONS[known.decision].capitalize()} after {known.users:,} of {known.of:,} users",
            fontsize=8,
            parse_math=False,
        )
    return figure


def render(reports: Sequence[Report]) -> dict[str, bytes]:
    """The picture of each run that stops, file name -> content; the settings of one run share it.

    The files are `stopping.png` and `stopping.svg`; of several runs `stopping_1.png` and so on.
    """
    runs = {run.logs: run for run in (report.run for report in reports) if run.stopped and run.stopped.intervals}
    found: dict[str, bytes] = {}
    for place, run in enumerate(runs.values(), 1):
        if run.stopped is not None:
            found |= files(
                draw(run.stopped, measure_of(run).replace("_", " ")),
                "stopping" if len(runs) == 1 else f"stopping_{place}",
            )
    return found
