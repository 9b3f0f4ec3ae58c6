"""The files of `--out` of `report`, `rank` and `cost`, file name -> content; and a ranking as CSV."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..analysis.balance import balances
from ..analysis.documents import SCORE, RankDocument, RankedRun, ReportDocument
from ..analysis.measures import KINDS
from ..analysis.other_tasks import Cost, CostDocument
from ..analysis.ranking import Ranking
from ..common import foreign
from ..common.files import Content
from ..common.outputs import Output, json_text
from ..common.tables import lines_text
from . import cost_text, page, rank_text, report_text
from .blocks import Block, markdown


def report_files(document: ReportDocument, rankings: Sequence[Ranking]) -> dict[str, Content]:
    """The reports of some runs, and the page."""
    titles = ", ".join(dict.fromkeys(run.title for ranking in rankings for run in ranking.runs))
    shown = page.render(rankings, balances(rankings))
    return _files("report", document, titles, report_text.blocks(document, full=True), shown)


def rank_files(rankings: Sequence[Ranking], document: RankDocument) -> dict[str, Content]:
    """The rankings, and the page."""
    shown = page.render(rankings, document.balance)
    files = _files("ranking", document, "Ranking", rank_text.blocks(document, full=True), shown)
    return {**files, "ranking.csv": rank_csv(document)}


def cost_files(costs: Sequence[Cost], document: CostDocument) -> dict[str, Content]:
    """The costs, and a page with every sample."""
    return _files("cost", document, cost_text.TITLE, cost_text.blocks(document), cost_text.page(costs))


def _files(name: str, document: Output, title: str, blocks: Sequence[Block], page: str) -> dict[str, Content]:
    # each has the name of its output: one folder can have the files of all
    return {
        f"{name}.md": f"# {foreign.markdown(title)}\n\n{markdown(blocks)}",
        f"{name}.json": json_text(document),
        f"{name}.html": page,
    }


def rank_csv(document: RankDocument) -> str:
    """One row per run, with the columns of all measures that a benchmark here can have; what a run lacks is empty."""
    kinds = {key: one.kind for ranking in document.rankings for key, one in ranking.measures.items()}
    keys = sorted(kinds, key=lambda key: KINDS.index(kinds[key]))
    rows = []
    for number, ranking in enumerate(document.rankings, start=1):
        for place, run in enumerate(ranking.runs, start=1):
            low, high = run.ranks or (None, None)
            caveats = [one.key for one in ranking.caveats if not one.about or f"{place}" in one.about]
            rows.append({
                "schema": document.schema, "ranking": number, "place": place, "void": int(run.void), "rank": run.rank,
                "rank_low": low, "rank_high": high, "tied": " ".join(map(str, run.tied)), "verdict": run.verdict,
                "use": run.use, "name": run.name, "model": run.model, "harness": run.harness, "method": run.method,
                "primary": run.primary, "partial": int(run.partial),
                **_columns(run, [key for key in keys if kinds[key] == "score"]),
                "cases": ranking.cases, "users": ranking.users,
                **_columns(run, [key for key in keys if kinds[key] != "score"]),
                "caveats": " ".join(caveats), "signature": run.signature,
            })  # fmt: skip
    header = list(rows[0]) if rows else []
    texts: list[list[Any]] = [["" if value is None else value for value in row.values()] for row in rows]
    return lines_text([header, *texts])


def _columns(run: RankedRun, keys: Sequence[str]) -> dict[str, str]:
    # value, low and high of each measure; empty where undefined
    columns = {}
    for key in keys:
        found, prefix = run.measures.get(key), "" if key == SCORE else f"{key}_"
        for name, field in {key: "value", f"{prefix}low": "low", f"{prefix}high": "high"}.items():
            number = getattr(found, field, math.nan)
            columns[name] = "" if math.isnan(number) else f"{number:.6f}"
    return columns
