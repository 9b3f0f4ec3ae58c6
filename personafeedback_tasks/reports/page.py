"""Rankings and the cases behind them -> one HTML file to look at, which asks the network for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..analysis.documents import Balance
from ..analysis.ranking import Ranking
from ..common import web
from ..logs.names import signature_line
from . import page_plots, page_table, rank_text
from .page_data import data, names, places, texts_of
from .table import spaced

FILES = Path(__file__).with_suffix("")
"""The template, the style and the scripts."""


def render(rankings: Sequence[Ranking], balance: Sequence[Balance]) -> str:
    """The page."""
    numbers = places(rankings)
    texts = [texts_of(ranking) for ranking in rankings]
    document = data(rankings, texts)
    return web.page(
        FILES / "page",
        document,
        scripts=("ranking", "list", "case"),
        title=" and ".join(dict.fromkeys(ranking.runs[0].title for ranking in rankings)),
        cases=len(document["cases"]),
        users=len({case["user"] for case in document["cases"]}),
        runs=len(document["runs"]),
        parts=[
            _section(ranking, of_ranking, len(rankings) > 1, shown is not None)
            for ranking, of_ranking, shown in zip(rankings, numbers, texts, strict=True)
        ],
        planes=page_plots.planes(balance),
        reasons=rank_text.reasons([ranking.entry for ranking in rankings]),
        place_meaning=page_table.PLACE,
    )


def _section(ranking: Ranking, numbers: Sequence[str], several: bool, has_texts: bool) -> dict[str, Any]:
    first, entry = ranking.runs[0], ranking.entry
    rows: list[dict[str, Any]] = [
        {"number": number, "name": name} for number, name in zip(numbers, names(ranking), strict=True)
    ]
    of_rows = zip(rows, page_table.possible(entry, numbers), page_table.notes(entry), ranking.runs, strict=True)
    for row, possible, notes, run in of_rows:
        row |= {
            "possible": possible,
            "notes": notes,
            "signature": signature_line(run, ranking.texts.version if ranking.texts else ""),
        }
    return {
        "heading": f"Ranking {numbers[0].partition('.')[0]}: {first.title}" if several else first.title,
        "about": about(ranking),
        "asks": first.benchmark.report.asks,
        "title": entry.title,
        "lead": page_table.lead(ranking),
        "caveats": [
            (", ".join(numbers[int(place) - 1] for place in caveat.about), caveat.sentence)
            for caveat in entry.caveats
            if not page_table.is_of_models(caveat)
        ],
        "has_texts": has_texts,
        "rows": rows,
        "columns": page_table.columns(ranking, numbers),
        "control": first.benchmark.report.control,
        "score": page_table.score_name(ranking).capitalize(),
        "forest": page_plots.forest(ranking),
        "pairs": page_table.pairs(entry),
    }


def about(ranking: Ranking) -> str:
    """A sentence on the comparison: the cells, how many cases and users, how they were asked, and when."""
    first, entry = ranking.runs[0], ranking.entry
    every = first.benchmark.cells
    whole = len(entry.cells) == len(every) > 1
    cells = f"All {len(every)} cells" if whole else ", ".join(spaced(cell) for cell in entry.cells)
    options = first.benchmark.options.remarks(entry.asked)
    days = sorted(run.date[:10] for run in ranking.runs)
    dates = " to ".join(dict.fromkeys((days[0], days[-1])))
    users = f"{entry.users:,} user{'' if entry.users == 1 else 's'}"
    text = "; ".join(filter(None, [f"{cells}: {entry.cases:,} cases of {users}", ", ".join(options), dates]))
    return f"{text[:1].upper()}{text[1:]}"
