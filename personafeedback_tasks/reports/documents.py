"""Builds the documents of rankings, which JSON, the CSV file and data frames are written from."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.balance import NO_TASKS, OfTasks, balances
from ..analysis.documents import (
    BalanceEntry,
    RankDocument,
    RankedRun,
    RankingEntry,
)
from ..analysis.ranking import Ranking
from ..analysis.sentences import texts_of, uses_known
from ..logs.names import signature_line


def rank_document(rankings: Sequence[Ranking], of_tasks: OfTasks = NO_TASKS) -> RankDocument:
    balance = [BalanceEntry(model=one.model, values=one.values) for one in balances(rankings, of_tasks)]
    return RankDocument(rankings=list(map(_ranking, rankings)), balance=balance)


def _ranking(ranking: Ranking) -> RankingEntry:
    return RankingEntry(
        asked=ranking.asked,
        cases=ranking.cases,
        users=ranking.users,
        cells=ranking.cells,
        caveats=texts_of(ranking.caveats),
        measures={one.key: one for one in ranking.measures},
        runs=[
            RankedRun(
                model=row.run.model,
                name=row.run.name,
                label=row.run.label,
                harness=row.run.harness,
                method=row.run.method.name,
                primary=row.run.primary,
                signature=signature_line(row.run),
                partial=bool(row.run.partial),
                void=row.rank is None,
                rank=row.rank,
                ranks=row.ranks,
                tied=row.tied,
                verdict=uses_known(use) if use else None,
                use=use.verdict.value if use and use.verdict else None,
                measures=row.values,
            )
            for row, use in zip(ranking.rows, ranking.uses, strict=True)
        ],
        pairs=ranking.pairs,
    )
