"""Builds the documents of rankings and verdicts, which JSON, the CSV file and data frames are written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..analysis.balance import NO_TASKS, OfTasks, balances
from ..analysis.documents import (
    BalanceEntry,
    RankDocument,
    RankedRun,
    RankingEntry,
    VerdictDocument,
    VerdictEntry,
)
from ..analysis.ranking import Ranking
from ..analysis.sentences import texts_of, uses_known
from ..analysis.verdict import Verdict
from ..logs.names import signature_line
from . import verdict_text


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


def verdict_document(verdicts: Sequence[Verdict]) -> VerdictDocument:
    return VerdictDocument(verdicts=list(map(_verdict, verdicts)))


def _verdict(verdict: Verdict) -> VerdictEntry:
    return VerdictEntry(
        sentence=verdict_text.in_a_sentence(verdict),
        writer=verdict.duels.writer,
        against=verdict.duels.against,
        judge=verdict.run.model,
        caveats=texts_of(verdict.caveats),
        groups={group.name: group for group in verdict.groups},
        corrected=replace(verdict.corrected, why_not=verdict_text.why_not(verdict)),
        length_adjusted=verdict.adjusted,
        people=verdict.people,
        people_users=verdict.people_users,
        prediction_powered=verdict.powered,
        signature=signature_line(verdict.run),
        calibration=signature_line(verdict.calibration),
    )
