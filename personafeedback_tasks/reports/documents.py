"""Builds the documents of reports, rankings and verdicts, which JSON, the CSV file and data frames are written from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..analysis.balance import NO_TASKS, OfTasks, balances
from ..analysis.documents import (
    BalanceEntry,
    CaveatText,
    MeasureText,
    RankDocument,
    RankedRun,
    RankingEntry,
    ReportDocument,
    ReportedRun,
    VerdictDocument,
    VerdictEntry,
)
from ..analysis.measures import Measure
from ..analysis.ranking import Ranking
from ..analysis.report import Report
from ..analysis.verdict import Verdict
from ..logs.caveat import Caveat
from ..logs.names import signature_line
from . import verdict_text
from .report_text import wording_ranges
from .sentences import alone, use_name, uses_known, verdict


def caveat_texts(caveats: Iterable[Caveat]) -> list[CaveatText]:
    return [
        CaveatText(key=one.key, severity=one.severity, about=list(one.about), sentence=alone(one)) for one in caveats
    ]


def report_document(reports: Sequence[Report]) -> ReportDocument:
    return ReportDocument(reports=list(map(_reported, reports)), prompt_sensitivity=wording_ranges(reports))


def _reported(report: Report) -> ReportedRun:
    run = report.run
    return ReportedRun(
        model=run.model,
        name=run.name,
        primary=run.primary,
        signature=report.signature,
        beside={name: signature_line(control) for name, control in report.controls.items()},
        partial=run.partial,
        left_out=run.left_out,
        demonstration=run.signature.demonstration,
        set=run.named_set.name if run.named_set else None,
        verdict=verdict(report),
        use=use_name(report.use) if report.use else None,
        caveats=caveat_texts(report.caveats),
        unread=report.unread,
        ceiling=report.texts.ceiling,
        measures=_measure_texts(report.measures),
        groups={group.name: group for group in report.groups},
        macro=report.macro,
        judges=report.judges,
        users=report.users,
        costs=report.costs,
    )


def _measure_texts(measures: Iterable[Measure]) -> dict[str, MeasureText]:
    return {
        one.key: MeasureText(heading=one.heading, unit=one.unit, kind=one.kind, meaning=one.meaning) for one in measures
    }


def rank_document(rankings: Sequence[Ranking], of_tasks: OfTasks = NO_TASKS) -> RankDocument:
    balance = [BalanceEntry(model=one.model, values=one.values) for one in balances(rankings, of_tasks)]
    return RankDocument(rankings=list(map(_ranking, rankings)), balance=balance)


def _ranking(ranking: Ranking) -> RankingEntry:
    return RankingEntry(
        asked=ranking.asked,
        cases=ranking.cases,
        users=ranking.users,
        cells=ranking.cells,
        caveats=caveat_texts(ranking.caveats),
        measures=_measure_texts(ranking.measures),
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
                use=use_name(use) if use else None,
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
        caveats=caveat_texts(verdict.caveats),
        groups={group.name: group for group in verdict.groups},
        corrected=replace(verdict.corrected, why_not=verdict_text.why_not(verdict)),
        length_adjusted=verdict.adjusted,
        people=verdict.people,
        people_users=verdict.people_users,
        prediction_powered=verdict.powered,
        signature=signature_line(verdict.run),
        calibration=signature_line(verdict.calibration),
    )
