"""What `--out` of the commands promises: file name -> content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis.ranking import Ranking
from ..analysis.report import Report
from ..analysis.sensitivity import sensitivities
from ..common import foreign
from ..common.files import Content
from ..common.strict_json import json_text
from . import figure, heatmap, page, precision_recall, rank_text, report_text
from .blocks import markdown


def report_document(reports: Sequence[Report]) -> dict[str, Any]:
    """What report.json has: the reports, and how far the wordings move their scores."""
    return {"reports": list(map(report_text.document, reports)), "prompt_sensitivity": moved(reports)}


def moved(reports: Sequence[Report]) -> list[str]:
    """How far the wordings move the scores, in sentences."""
    return list(map(report_text.moved, sensitivities(reports)))


def report_files(reports: Sequence[Report], rankings: Sequence[Ranking]) -> dict[str, Content]:
    """The reports, their figures, and the page.

    Args:
        rankings: of the same runs.
    """
    titles, scores = (
        " and ".join(dict.fromkeys(names))
        for names in zip(*((made.run.title, made.run.benchmark.report.score) for made in reports), strict=True)
    )
    planes = precision_recall.render(reports)
    drawn = figure.render(reports) | planes
    parts = [f"# {foreign.markdown(titles)}\n", _image(f"{scores} with 95 % intervals and baselines", "accuracy.svg")]
    parts += [_image(precision_recall.TITLE, name) for name in planes if name.endswith(".svg")]
    for made, maps in zip(reports, heatmap.render(reports), strict=True):
        drawn |= maps
        parts.append(markdown(report_text.blocks(made)))
        parts += [_image(heatmap.TITLE, name) for name in maps if name.endswith(".svg")]
    if found := moved(reports):
        parts += ["## Prompt sensitivity\n", *(f"- {foreign.markdown(line)}" for line in found)]
    return {
        "report.md": "\n".join(parts),
        "report.json": json_text(report_document(reports)),
        **drawn,
        "index.html": page.render(rankings),
    }


def rank_files(rankings: Sequence[Ranking]) -> dict[str, Content]:
    """The rankings, and the page."""
    return {
        "ranking.md": f"# Ranking\n\n{markdown(rank_text.all_blocks(rankings))}",
        "ranking.csv": rank_text.as_csv(rankings),
        "ranking.json": json_text(rank_text.document(rankings)),
        "index.html": page.render(rankings),
    }


def _image(title: str, name: str) -> str:
    return f"![{title}]({name})\n"
