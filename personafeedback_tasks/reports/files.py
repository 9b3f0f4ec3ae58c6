"""What `--out` of the commands promises: file name -> content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..analysis.ranking import Ranking
from ..analysis.report import Report
from ..common import foreign
from ..common.files import Content
from ..common.outputs import output_text
from ..engine.funnel import FunnelSheet
from . import (
    figure,
    funnel_figure,
    funnel_text,
    heatmap,
    page,
    precision_recall,
    rank_data,
    rank_text,
    report_text,
    stopping_figure,
)
from .blocks import Block, markdown, picture


def report_document(reports: Sequence[Report]) -> dict[str, Any]:
    """What report.json has: the reports, and how far the wordings move their scores."""
    return {
        "reports": list(map(report_text.document, reports)),
        "prompt_sensitivity": report_text.sensitivity_lines(reports),
    }


def report_files(reports: Sequence[Report], rankings: Sequence[Ranking]) -> dict[str, Content]:
    """The reports, their figures, and the page."""
    titles = " and ".join(dict.fromkeys(report.run.title for report in reports))
    scores = " and ".join(dict.fromkeys(report.run.benchmark.report.score for report in reports))
    accuracies, planes, maps = figure.render(reports), precision_recall.render(reports), heatmap.render(reports)
    parts: list[Block] = _pictures(f"{scores} with 95 % intervals and baselines", accuracies)
    parts += _pictures(precision_recall.TITLE, planes)
    sequences = stopping_figure.render(reports)
    parts += _pictures(stopping_figure.TITLE, sequences)
    for report, heat_map in zip(reports, maps, strict=True):
        parts += [*report_text.blocks(report), *_pictures(heatmap.TITLE, heat_map)]
    parts += report_text.sensitivity(reports)
    return {
        "report.md": f"# {foreign.markdown(titles)}\n\n{markdown(parts)}",
        "report.json": output_text(report_document(reports)),
        **accuracies,
        **planes,
        **sequences,
        **{name: content for heat_map in maps for name, content in heat_map.items()},
        "index.html": page.render(rankings),
    }


def _pictures(title: str, names: Iterable[str]) -> list[Block]:
    return [picture(title, name) for name in names if name.endswith(".svg")]


def funnel_files(sheet: FunnelSheet, of_runs: Mapping[str, str]) -> dict[str, Content]:
    """The funnels in words and as a picture."""
    pictures = funnel_figure.render(sheet)
    parts = [*_pictures(funnel_figure.TITLE, pictures), *funnel_text.blocks(sheet, of_runs)]
    return {"chain.md": f"# {foreign.markdown(sheet.title)}\n\n{markdown(parts)}", **pictures}


def rank_files(rankings: Sequence[Ranking]) -> dict[str, Content]:
    """The rankings, and the page."""
    return {
        "ranking.md": f"# Ranking\n\n{markdown(rank_text.all_blocks(rankings, rank_text.ALL))}",
        "ranking.csv": rank_data.as_csv(rankings),
        "ranking.json": output_text(rank_data.document(rankings)),
        "index.html": page.render(rankings),
    }
