"""A report on a terminal, in Markdown and as JSON. The rows of its tables are cells and groups of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..analysis.groups import Group
from ..analysis.harm import HARMED, HELPED, UNCHANGED, UNREAD
from ..analysis.report import Report
from ..analysis.sheet import Sheet
from ..analysis.use import EXCESS
from ..core.report import Line
from ..logs.names import signature_line
from ..logs.run import Run
from ..stats.significance import equivalence_bound
from . import costs_text, headline
from .blocks import Block, heading, paragraph, quoted, signatures, warnings
from .table import NOTHING, Column, Table, measured, percent, spaced, with_interval

SHEET = "The same cases under each setting; differences are paired by case, intervals clustered by user:"


def blocks(report: Report) -> list[Block]:
    """The report of one run, the most important first."""
    result, *details = tables(report)
    return [
        heading(f"{report.run.label}: {spaced(report.overall.name)}" if len(report.shown) == 1 else report.run.label),
        warnings(report.caveats, ceiling(report)),
        paragraph(headline.verdict(report)),
        result,
        headline.shortcuts(report),
        headline.users(report),
        *headline.beside(report),
        *details,
        *_unread(report),
        *_sheet(report),
        *costs_text.blocks(report.costs),
        signatures({"signature": report.signature, **_signatures(report.controls)}),
    ]


def wording_ranges(reports: Sequence[Report]) -> list[str]:
    """A sentence for each model that was asked in several wordings."""
    lines = []
    for of_wording in _by_wording(reports):
        scores = {wording: report.overall.measures[report.run.primary].value for wording, report in of_wording.items()}
        (low, lowest), *_, (high, highest) = scores.items()
        first = of_wording[low]
        lines.append(
            f"{first.run.model}, {spaced(first.overall.name)}: {first.run.primary} {percent(lowest)} ({low}) to {percent(highest)} ({high}) "
            f"over {len(scores)} wordings."
        )
    return lines


def _by_wording(reports: Sequence[Report]) -> list[dict[str, Report]]:
    # reports of one model on the same cases that differ only in the wording, the lowest score first
    alike: dict[str, dict[str, Report]] = {}
    for report in reports:
        if report.run.benchmark.report.wording:
            alike.setdefault(_but_for_wording(report.run), {})[_wording(report.run)] = report
    return [
        dict(sorted(of_wording.items(), key=lambda item: item[1].overall.measures[item[1].run.primary].value))
        for of_wording in alike.values()
        if len(of_wording) > 1
    ]


def _wording(run: Run) -> str:
    return ", ".join(str(run.signature.options[name]) for name in run.benchmark.report.wording)


def _but_for_wording(run: Run) -> str:
    varied = (*run.benchmark.report.wording, "fingerprint")
    same = {name: value for name, value in run.same.items() if name not in varied}
    cases = {case_id: case.digest for case_id, case in sorted(run.cases.items())}
    return repr((same, cases))


def tables(report: Report) -> list[Table]:
    """The tables of a report, the most important first. Scores and shares are in percent, unless titled otherwise."""
    groups, spec = report.shown, report.run.benchmark.report
    labels = tuple(spaced(group.name) for group in groups)
    result = [
        Column("cases", tuple(map(_count, groups))),
        Column("users", tuple(f"{group.measures[report.run.primary].users:,}" for group in groups)),
    ]
    for line in report.run.headline:
        result += _measured(report, line)
    result += headline.columns_beside(report, groups)
    result += gap_columns(report, groups)
    if report.excess:
        result += with_interval(EXCESS, [report.excess.get(group.name) for group in groups], sign=True)
    answering = report.judges.baselines if report.judges else ()  # these have a table of their own
    baselines = [
        Column(name, tuple(percent(group.baselines[name].value) for group in groups))
        for name in groups[-1].baselines
        if name not in answering
    ]
    if spec.chance is not None:
        baselines.append(Column("chance", (percent(spec.chance),) * len(groups)))
    parts: list[Column] = []
    for name in groups[-1].subsets:
        subsets = [group.subsets[name] for group in groups]
        if any(subset.n for subset in subsets):
            counts = Column("cases", tuple(f"{subset.n:,}" for subset in subsets), joined=True)
            parts += [*with_interval(report.texts.subsets[name][0], subsets, strong=False), counts]
    details: dict[str, list[Column]] = {}
    for line in spec.details:
        details.setdefault(line.table, []).extend(_measured(report, line))
    reasons = [
        Column(reason, tuple(f"{group.reasons.get(reason, 0):,}" for group in groups))
        for reason in sorted({reason for group in groups for reason in group.reasons})
    ]
    tables = [
        Table("Result", labels, tuple(result)),
        Table(
            "Answers that are right without and wrong with it", labels, tuple(_harm_columns(report, groups)), corner=""
        ),
        Table("Baselines and chance" if spec.chance is not None else "Baselines", labels, tuple(baselines)),
        Table(f"{report.run.score_name} in parts of the data", labels, tuple(parts)),
        *(Table(heading, labels, tuple(columns)) for heading, columns in details.items()),
        Table("Cases with the same pick in every order, under both", labels, tuple(_alike_columns(report, groups))),
        Table("Unreadable replies by reason", labels, tuple(reasons), corner=""),
    ]
    return [replace(table, single=len(groups) == 1) for table in tables]


def gap_columns(report: Report, groups: Sequence[Group]) -> list[Column]:
    """The differences to the controls that are there."""
    columns: list[Column] = []
    for name in report.differences(report.overall.name):
        columns += with_interval(name, [report.differences(group.name).get(name) for group in groups], sign=True)
    return columns


def _alike_columns(report: Report, groups: Sequence[Group]) -> list[Column]:
    found = [report.alike.get(group.name) for group in groups]
    if not any(one and one.n for one in found):
        return []
    return [
        Column("cases", tuple(f"{one.n:,}" if one else NOTHING for one in found)),
        *with_interval("right minus wrong", found, sign=True),
    ]


def _harm_columns(report: Report, groups: Sequence[Group]) -> list[Column]:
    columns: list[Column] = []
    for word in report.harms.get(report.overall.name, {}):
        harms = [report.harms.get(group.name, {}).get(word) for group in groups]
        columns += with_interval(f"{word} (%)", [harm.share if harm else None for harm in harms])
        for kind in (HARMED, HELPED, UNCHANGED, UNREAD):
            columns.append(Column(kind, tuple(f"{getattr(harm, kind):,}" if harm else NOTHING for harm in harms)))
    return columns


def ceiling(report: Report) -> list[str]:
    """The label ceiling of each group, in a sentence; nothing without data."""
    places = ", ".join(f"{name} {value}" for name, value in headline.ceilings(report).items())
    return [*([report.texts.ceiling_note.format(places)] if places else []), *filter(None, [report.texts.label_note])]


def _count(group: Group) -> str:
    return f"{group.cases:,}" if group.cases == group.of else f"{group.cases:,} of {group.of:,}"


def _measured(report: Report, line: Line) -> list[Column]:
    return measured(line, [group.measures[line.measure] for group in report.shown])


def _unread(report: Report) -> list[Block]:
    if not report.unread:
        return []
    count = sum(report.overall.reasons.values())
    replies = [f"{case} {reason}: {reply or '(empty)'}" for case, reason, reply in report.unread]
    return [quoted(f"Unreadable replies ({len(replies)} of {count:,}):", replies)]


def _sheet(report: Report) -> list[Block]:
    sheet = report.sheet
    if sheet is None:
        return []
    labels = tuple(spaced(column.name) for column in sheet.columns)
    scores = [Column("cases", tuple(f"{column.cases:,}" for column in sheet.columns))]
    for name in sheet.runs:
        scores += with_interval(name, [column.scores[name] for column in sheet.columns])
    return [
        paragraph(SHEET),
        *map(paragraph, sheet_notes(sheet)),
        Table("Scores", labels, tuple(scores), single=len(labels) == 1),
        Table("Differences", labels, tuple(_gaps(sheet)), single=len(labels) == 1),
    ]


def sheet_notes(sheet: Sheet) -> list[str]:
    """The named differences in words; where one may be 0, how far from 0 it may be."""
    notes = []
    for name, named in sheet.named.items():
        notes.append(f"{named.name.capitalize()} is {name}: {named.meaning}.")
        overall = max(sheet.columns, key=lambda column: column.cases).differences[name]
        known = next(iter(sheet.runs.values())).stopped
        if known is None and overall.low <= 0 <= overall.high:
            notes.append(
                f"Over all cases it cannot be told apart from 0, and lies within {100 * equivalence_bound(overall):.1f} points of 0 "
                "(two one-sided tests at 5 %)."
            )
    return notes


def _gaps(sheet: Sheet) -> list[Column]:
    columns: list[Column] = []
    for name in sheet.columns[0].differences:
        heading = sheet.named[name].name if name in sheet.named else name
        columns += with_interval(heading, [column.differences[name] for column in sheet.columns], sign=True)
    return columns


def _signatures(runs: Mapping[str, Run]) -> dict[str, str]:
    return {name: signature_line(run) for name, run in runs.items()}
