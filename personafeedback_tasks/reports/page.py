"""Rankings and the cases behind them -> one HTML file to look at, which asks the network for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..analysis.balance import NO_TASKS, OfTasks, balances
from ..analysis.ranking import Ranking
from ..analysis.sentences import sentence
from ..common import web
from ..logs.names import signature_line
from . import page_plots, page_table, rank_text
from .page_data import data, names, places, texts_of
from .table import spaced

FILES = Path(__file__).with_suffix("")
"""The template, the style and the script."""


def render(rankings: Sequence[Ranking], of_tasks: OfTasks = NO_TASKS) -> str:
    """The page."""
    numbers = places(rankings)
    texts = [texts_of(ranking) for ranking in rankings]
    document = data(rankings, texts)
    return web.page(
        FILES / "page",
        document,
        title=" and ".join(dict.fromkeys(ranking.runs[0].title for ranking in rankings)),
        cases=len(document["cases"]),
        users=len({case["user"] for case in document["cases"]}),
        runs=len(document["runs"]),
        parts=[
            _section(ranking, of_ranking, len(rankings) > 1, shown is not None)
            for ranking, of_ranking, shown in zip(rankings, numbers, texts, strict=True)
        ],
        planes=page_plots.planes(balances(rankings, of_tasks)),
        reasons=rank_text.reasons(rankings),
        place_meaning=page_table.PLACE,
        most_pairs=page_table.MOST_PAIRS,
    )


def _section(ranking: Ranking, numbers: Sequence[str], several: bool, has_texts: bool) -> dict[str, Any]:
    first = ranking.runs[0]
    rows: list[dict[str, Any]] = [
        {"number": number, "name": name} for number, name in zip(numbers, names(ranking), strict=True)
    ]
    of_rows = zip(rows, page_table.possible(ranking, numbers), page_table.notes(ranking), ranking.rows, strict=True)
    for row, possible, notes, ranked in of_rows:
        row |= {
            "possible": possible,
            "notes": notes,
            "signature": signature_line(ranked.run, ranking.texts.version if ranking.texts else ""),
        }
    return {
        "heading": f"Ranking {numbers[0].partition('.')[0]}: {first.title}" if several else first.title,
        "about": about(ranking),
        "asks": first.benchmark.report.asks,
        "title": rank_text.title(ranking),
        "lead": page_table.lead(ranking),
        "caveats": [
            (", ".join(numbers[int(place) - 1] for place in caveat.about), sentence(replace(caveat, about=())))
            for caveat in ranking.caveats
            if not page_table.is_of_models(caveat)
        ],
        "has_texts": has_texts,
        "rows": rows,
        "columns": page_table.columns(ranking, numbers),
        "control": first.benchmark.report.control,
        "score": page_table.score_name(ranking).capitalize(),
        "dumbbell": page_plots.dumbbell(ranking),
        "forest": page_plots.forest(ranking),
        "pairs": page_table.pairs(ranking),
    }


def about(ranking: Ranking) -> str:
    """A sentence on the comparison: the cells, how many cases and users, how they were asked, and when."""
    first = ranking.runs[0]
    every = first.benchmark.cells
    whole = len(ranking.cells) == len(every) > 1
    cells = f"All {len(every)} cells" if whole else ", ".join(spaced(cell) for cell in ranking.cells)
    options = first.benchmark.options.remarks(ranking.asked)
    days = sorted(run.date[:10] for run in ranking.runs)
    dates = " to ".join(dict.fromkeys((days[0], days[-1])))
    users = f"{ranking.users:,} user{'' if ranking.users == 1 else 's'}"
    text = "; ".join(filter(None, [f"{cells}: {ranking.cases:,} cases of {users}", ", ".join(options), dates]))
    return f"{text[:1].upper()}{text[1:]}"
