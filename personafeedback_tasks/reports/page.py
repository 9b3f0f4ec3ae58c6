"""Rankings and the cases behind them -> one HTML file to look at, which asks the network for nothing."""

from __future__ import annotations

import hashlib
import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from ..analysis import calibration
from ..analysis.measures import over
from ..analysis.ranking import Ranking
from ..common import foreign
from ..common.statistics import Estimate
from ..runs.signature_line import signature_line
from . import rank_text
from .page_data import called, data, places, script_json
from .sentences import sentence
from .table import interval, percent

FILES = Path(__file__).with_suffix("")
"""The template, the style and the script."""

CALIBRATION = (
    "A prediction is one case (and epoch). The run picks the response that is more probable on average over its calls; that probability is at least "
    "50 %. A calibrated run is right in that share of the cases: on the diagonal. The calibration error is the mean distance from it, weighted by "
    "the number of predictions; chance alone makes some, which is printed beside it."
)

TICKS = 7
"""How many an axis has at most."""


@dataclass(frozen=True)
class Axis:
    """Percent, along a picture of any width.

    Attributes:
        low, high: its ends.
        step: between two ticks.
    """

    low: float
    high: float
    step: float

    @classmethod
    def over(cls, values: Iterable[float]) -> Axis:
        """An axis with all of these shares on it."""
        percents = [100 * value for value in values if not math.isnan(value)] or [0.0, 100.0]
        for step in (1.0, 2.0, 5.0, 10.0, 20.0):
            low, high = step * math.floor(min(percents) / step), step * math.ceil(max(percents) / step)
            if (high - low) / step < TICKS:
                break
        return cls(max(0.0, low if low < high else low - step), min(100.0, high if low < high else high + step), step)

    def at(self, value: float) -> str:
        """Where a share is, as SVG writes it; a margin keeps the ends in the picture."""
        return f"{3 + 94 * (100 * value - self.low) / (self.high - self.low):.2f}%"

    @property
    def ticks(self) -> list[tuple[str, str]]:
        """(place, text)."""
        count = round((self.high - self.low) / self.step)
        values = [self.low + number * self.step for number in range(count + 1)]
        return [(self.at(value / 100), f"{value:g}") for value in values]


def render(rankings: Sequence[Ranking]) -> str:
    """The page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FILES, encoding="utf-8"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: (
            value if isinstance(value, Markup) or not isinstance(value, str) else foreign.page(value)
        ),
    )
    environment.globals |= {"percent": percent, "interval": interval, "isnan": math.isnan}
    style, script = (Markup((FILES / name).read_text(encoding="utf-8")) for name in ("page.css", "page.js"))
    numbers = places(rankings)
    document = data(rankings)
    return environment.get_template("index.html.j2").render(
        title=" and ".join(dict.fromkeys(ranking.runs[0].title for ranking in rankings)),
        style=style,
        script=script,
        policy="; ".join(
            (
                "default-src 'none'",
                f"style-src {_hash(style)}",
                f"script-src {_hash(script)}",
                "base-uri 'none'",
                "form-action 'none'",
            )
        ),
        data=Markup(script_json(document)),
        cases=len(document["cases"]),
        users=len({case["user"] for case in document["cases"]}),
        runs=len(document["runs"]),
        parts=[_section(ranking, of_ranking) for ranking, of_ranking in zip(rankings, numbers, strict=True)],
        reasons=rank_text.reasons(rankings),
        legend=rank_text.LEGEND,
        matrix_legend=rank_text.MATRIX,
        calibration_note=CALIBRATION,
    )


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _section(ranking: Ranking, numbers: Sequence[str]) -> dict[str, Any]:
    runs = [(number, called(row.run)) for number, row in zip(numbers, ranking.rows, strict=True)]
    scores, others = rank_text.columns_of(ranking)
    return {
        "title": rank_text.title(ranking),
        "caveats": [
            (", ".join(numbers[int(place) - 1] for place in caveat.about), sentence(replace(caveat, about=())))
            for caveat in ranking.caveats
        ],
        "has_texts": ranking.data is not None,
        "table": rank_text.table(ranking, [*scores, *others]),
        "forest": _forest(ranking, runs),
        "matrix": rank_text.matrix(ranking) if len(ranking.rows) > 1 else None,
        "calibrations": [
            (run, calibrated)
            for run, row in zip(runs, ranking.rows, strict=True)
            if (calibrated := calibration.calibration(row.run)) is not None
        ],
        "runs": [
            (run, signature_line(row.run, ranking.texts.version if ranking.texts else ""))
            for run, row in zip(runs, ranking.rows, strict=True)
        ],
    }


def _forest(ranking: Ranking, runs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Every run's score with its interval, before what needs no model."""
    first = ranking.rows[0]
    spec = first.run.benchmark.report
    lines = [] if spec.chance is None else [("Chance", spec.chance)]
    lines += [
        (label, first.score.value - margin.value)
        for name, (label, _) in spec.drawn.items()
        if (margin := first.values.get(over(name)))
    ]
    scores = [row.score for row in ranking.rows]
    axis = Axis.over(
        [value for score in scores for value in (score.value, score.low, score.high)] + [value for _, value in lines]
    )
    return {
        "score": spec.score,
        "ticks": axis.ticks,
        "lines": [(label, axis.at(value), percent(value)) for label, value in lines],
        "rows": [
            (run, _bar(score, axis.at)) for run, score in zip(runs, scores, strict=True) if not math.isnan(score.value)
        ],
    }


def _bar(score: Estimate, at: Callable[[float], str]) -> dict[str, Any]:
    ends = None if math.isnan(score.low) else (at(score.low), at(score.high))
    return {"at": at(score.value), "ends": ends, "value": percent(score.value), "interval": interval(score)}
