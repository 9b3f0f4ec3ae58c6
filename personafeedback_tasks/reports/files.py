"""The files of `--out` of each command: file name -> content."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.balance import balances
from ..analysis.documents import RankDocument, ReportDocument
from ..analysis.ranking import Ranking
from ..common import foreign
from ..common.files import Content
from ..common.outputs import output_text
from . import page, rank_csv, rank_text, report_text
from .blocks import Block, lines, markdown


def report_files(document: ReportDocument, rankings: Sequence[Ranking]) -> dict[str, Content]:
    """The reports of some runs, and the page."""
    titles = " and ".join(dict.fromkeys(run.title for ranking in rankings for run in ranking.runs))
    parts: list[Block] = []
    for report in document.reports:
        parts += report_text.full(report)
    parts.append(lines(document.prompt_sensitivity))
    return {
        "report.md": f"# {foreign.markdown(titles)}\n\n{markdown(parts)}",
        "report.json": output_text(document),
        "index.html": page.render(rankings, balances(rankings)),
    }


def rank_files(rankings: Sequence[Ranking], document: RankDocument) -> dict[str, Content]:
    """The rankings, and the page."""
    return {
        "ranking.md": f"# Ranking\n\n{markdown(rank_text.all_blocks(document, full=True))}",
        "ranking.csv": rank_csv.as_csv(document),
        "ranking.json": output_text(document),
        "index.html": page.render(rankings, document.balance),
    }
