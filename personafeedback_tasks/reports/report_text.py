"""A report on a terminal and in Markdown: in short, on one screen; or full, with every table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..analysis.documents import CostOfCalls, Group, ReportDocument, ReportedRun
from ..analysis.measures import BASELINES, RESULT
from ..analysis.sentences import first_sentence, sentence
from ..core.report import Line
from ..logs.caveat import VOID, WEAKENS
from ..stats.estimates import percent
from .blocks import Block, Words, apart, bullets, heading, lines, paragraph, quoted, signatures, warnings
from .table import INTERVAL, NOTHING, UNITS, Column, Table, in_unit, measured, money, signed, spaced, with_ends

MOST_CELLS = 6
"""Cells above which the short form has no table of them: it is to fit on one screen."""


def blocks(document: ReportDocument, full: bool = False) -> list[Block]:
    """The reports; `full` has every table and the whole signature."""
    several = len(document.reports) > 1
    return apart(_full(report) if full else _short(report, several) for report in document.reports)


def _full(report: ReportedRun) -> list[Block]:
    """Everything, the most important first."""
    result, *details = tables(report)
    about = [one for one in report.measures.values() if one.kind == "difference" and one.table == RESULT]
    return [
        heading(f"{report.label}: {spaced(report.overall.name)}" if len(report.rows) == 1 else report.label),
        warnings(report.caveats, report.labels),
        paragraph(report.verdict),
        result,
        bullets([f"{one.label}: {one.meaning}." for one in about]),
        lines([users(report)]),
        *_beside(report),
        *details,
        *_unread(report),
        *_costs(report.costs),
        signatures({"signature": report.signature, **report.beside}),
    ]


def _short(report: ReportedRun, others: bool = False) -> list[Block]:
    """The verdict, its numbers, and a line on each thing that could be wrong with it.

    Args:
        others: whether it is one of several, which have no table of the cells.
    """
    severe = [caveat for caveat in report.caveats if caveat.severity != WEAKENS]
    more = len(report.caveats) - len(severe)
    overall = report.overall
    cell = f"{report.label}, {report.title}, {spaced(overall.name)}"
    title = f"{cell}: {_count(overall)} cases, {overall.users:,} users"
    rest = f"{more} more caveat{'s' if more > 1 else ''}, " if more else ""
    of_model = [] if report.void else [_same_picks(report), users(report)]
    return [
        heading(title),
        lines([f"! {(sentence if caveat.severity == VOID else first_sentence)(caveat)}" for caveat in severe]),
        lines([report.verdict], style="bold"),
        _numbers(report),
        *([] if others or report.void else _cells(report)),
        lines([report.advice]),
        lines([*of_model, unreadable(report), _labels(report)]),
        lines([report.short_signature, f"--full shows {rest}every table and the whole signature"], style="dim"),
    ]


# --- tables -----------------------------------------------------------------------------------------------------------


def tables(report: ReportedRun) -> list[Table]:
    """The tables of a report, the most important first. Shares are in percent."""
    groups = report.rows
    labels, single = tuple(spaced(group.name) for group in groups), len(groups) == 1
    of_table: dict[str, list[Line]] = {RESULT: []}
    for measure in report.measures.values():
        if measure.table:
            of_table.setdefault(measure.table, []).append(measure)
    if report.chance is not None:
        of_table.setdefault(BASELINES, [])
    made = []
    for name, measures in of_table.items():
        columns = [column for measure in measures for column in columns_of(measure, groups)]
        if name == RESULT:
            users = tuple(f"{group.users:,}" for group in groups)
            columns = [Column("cases", tuple(map(_count, groups))), Column("users", users), *columns]
        if name == BASELINES and report.chance is not None:
            columns.append(Column(in_unit("chance"), (percent(report.chance),) * len(groups)))
        made.append(Table(name, labels, tuple(columns), single=single))
    reasons = sorted({reason for group in groups for reason in group.reasons})
    counts = [Column(reason, tuple(f"{group.reasons.get(reason, 0):,}" for group in groups)) for reason in reasons]
    return [*made, Table("Unreadable replies by reason", labels, tuple(counts), single=single)]


def columns_of(measure: Line, groups: Sequence[Group]) -> list[Column]:
    """A measure, its interval, and of how many cases it is."""
    found = [group.measures.get(measure.key) for group in groups]
    columns = measured(measure, found)
    if measure.counted and any(one and one.n for one in found):
        texts = []
        for one, group in zip(found, groups, strict=True):
            of = f" of {group.cases:,}" if measure.counted == "cases" else ""
            texts.append(f"{one.n:,}{of} {measure.counted}" if one else NOTHING)
        columns.append(Column("in", tuple(texts), joined=True))
    return columns


def table_of(report: ReportedRun, groups: Sequence[Group], keys: Iterable[str]) -> Table:
    """One table of some groups, with the measures of these keys that the report has."""
    columns = [Column("cases", tuple(f"{group.cases:,}" for group in groups))]
    for key in keys:
        if key in report.measures:
            columns += columns_of(report.measures[key], groups)
    return Table("", tuple(spaced(group.name) for group in groups), tuple(columns), whole=True)


def _cells(report: ReportedRun) -> list[Block]:
    cells = [group for name, group in report.groups.items() if name in report.cells]
    shown = (report.primary, *report.control_of)
    return [table_of(report, cells, shown[:2])] if 1 < len(cells) <= MOST_CELLS else []


def _count(group: Group) -> str:
    return f"{group.cases:,}" if group.cases == group.of else f"{group.cases:,} of {group.of:,}"


# --- lines ------------------------------------------------------------------------------------------------------------


def _numbers(report: ReportedRun) -> Words:
    overall, rows = report.overall, {}
    for key, measure in report.measures.items():
        value = overall.measures.get(key)
        if measure.table != RESULT or value is None or (math.isnan(value.value) and measure.kind != "difference"):
            continue
        (first, *others) = columns_of(measure, [overall])
        text = first.texts[0]
        if text[-1].isdigit() and measure.unit in UNITS:
            text += f" {UNITS[measure.unit]}"
        for column in others:
            if column.texts[0] != NOTHING:
                text += f" ({column.texts[0]})" if column.heading == INTERVAL else f", in {column.texts[0]}"
        if key == report.primary and report.chance is not None:
            text += f"; chance {percent(report.chance)}"
        rows[report.score.lower() if key == report.primary else measure.label] = text
    for name in report.controls:
        rows.setdefault(name, "not asked")
    width = max([0, *map(len, rows)]) + 2
    return lines([f"{name:{width}}{text}" for name, text in rows.items()])


def _same_picks(report: ReportedRun) -> str:
    # a baseline that seldom picks says little
    shares = [(one.label, report.overall.measures[key]) for key, one in report.measures.items() if one.kind == "shared"]
    same = [f"{name} {100 * one.value:.0f} %" for name, one in shares if one.n > report.overall.cases / 2]
    return f"shortcuts: same picks as {', '.join(same)}" if same else ""


def users(report: ReportedRun) -> str:
    """How far the users differ."""
    if report.users is None:
        return ""
    spread, low, high = map(percent, (report.users.spread, report.users.low, report.users.high))
    return f"users: standard deviation {spread} ({low}–{high}) points beyond chance"


def unreadable(report: ReportedRun) -> str:
    """How many replies could not be read; empty where there are none."""
    overall = report.overall
    if not overall.replies:
        return ""
    count = sum(overall.reasons.values())
    most = ", ".join(f"{reason} {count:,}" for reason, count in overall.reasons.items())
    of_each = f", {percent(count / overall.replies)} % ({most})" if most else ""
    return f"unreadable replies: {count:,} of {overall.replies:,}{of_each}"


def _labels(report: ReportedRun) -> str:
    # where labels allow 100 %, how often people label alike what the data have twice
    if places := [f"{name} {percent(value)} %" for name, value in report.ceiling.items()]:
        return f"label ceiling of these cells: {', '.join(places)}"
    note = " ".join(report.labels).removeprefix("Labels ").removesuffix(".")
    return f"labels: {note[0].lower()}{note[1:]}" if note else ""


def _beside(report: ReportedRun) -> list[Block]:
    # the run and the baselines that answer, one below the other; and how far people agree
    judges = report.judges
    rows = {"this run": report.overall.measures, **(judges.baselines if judges else {})}
    columns = []
    for key, measure in report.measures.items():
        if measure.compared:
            columns += measured(measure, [found.get(key) for found in rows.values()])
    beside = [Table("Beside baselines", tuple(rows), tuple(columns))] if columns else []
    if judges is None:
        return [*beside]
    values = "; ".join(f"{name} {with_ends(value, signed)}" for name, value in judges.agreement.items())
    return [*beside, lines([f"People's agreement ({judges.note}): {values}." if values else judges.note])]


def _unread(report: ReportedRun) -> list[Block]:
    if not report.unread:
        return []
    count = sum(report.overall.reasons.values())
    replies = [f"{one.case} {one.reason}: {one.reply or '(empty)'}" for one in report.unread]
    return [quoted(f"Unreadable replies ({len(replies)} of {count:,}):", replies)]


# --- costs ------------------------------------------------------------------------------------------------------------

CACHED = "Cached input is priced as the other input: dollars are an upper bound."

COST_COLUMNS: Mapping[str, Callable[[CostOfCalls], str]] = {
    "calls": lambda cost: _number(cost.calls),
    "input tokens": lambda cost: _number(cost.input_tokens),
    "of them cached": lambda cost: _number(cost.cached_tokens or math.nan),
    "output tokens": lambda cost: _number(cost.output_tokens),
    "of them thoughts": lambda cost: _number(cost.reasoning_tokens or math.nan),
    "dollars": lambda cost: money(cost.dollars),
}
"""Heading -> a row's text."""


def _costs(costs: Sequence[CostOfCalls]) -> list[Block]:
    columns = tuple(Column(name, tuple(map(text, costs))) for name, text in COST_COLUMNS.items())
    is_bound = any(cost.cached_tokens > 0 and not math.isnan(cost.dollars) for cost in costs)
    return [
        Table("Calls and tokens", tuple(cost.asked for cost in costs), columns, whole=True),
        *([paragraph(CACHED)] if is_bound else []),
    ]


def _number(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{value:,.0f}"
