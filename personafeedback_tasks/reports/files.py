"""The files of `--out` of each command: file name -> content."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.balance import OfTasks
from ..analysis.ranking import Ranking
from ..analysis.report import Report
from ..common import foreign
from ..common.files import Content
from ..common.outputs import output_text
from . import documents, page, rank_csv, rank_text, report_text
from .blocks import Block, lines, markdown


def report_files(reports: Sequence[Report], rankings: Sequence[Ranking]) -> dict[str, Content]:
    """The reports, and the page."""
    titles = " and ".join(dict.fromkeys(report.run.title for report in reports))
    parts: list[Block] = []
    for report in reports:
        parts += report_text.full(report)
    parts.append(lines(report_text.wording_ranges(reports)))
    return {
        "report.md": f"# {foreign.markdown(titles)}\n\n{markdown(parts)}",
        "report.json": output_text(documents.report_document(reports)),
        "index.html": page.render(rankings),
    }


def rank_files(rankings: Sequence[Ranking], of_tasks: OfTasks) -> dict[str, Content]:
    """The rankings, and the page."""
    document = documents.rank_document(rankings, of_tasks)
    return {
        "ranking.md": f"# Ranking\n\n{markdown(rank_text.all_blocks(rankings, full=True, of_tasks=of_tasks))}",
        "ranking.csv": rank_csv.as_csv(document),
        "ranking.json": output_text(document),
        "index.html": page.render(rankings, of_tasks),
    }
