"""A report on a terminal, in Markdown and as JSON. The rows of its tables are cells and groups of cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..analysis.groups import Group
from ..analysis.report import Report
from ..analysis.sensitivity import Sensitivity
from ..analysis.sheet import Sheet
from ..common.significance import equivalence_bound
from ..common.statistics import Estimate
from ..common.strict_json import jsonable
from ..engine.report import Line
from ..runs.signature_line import signature_line
from . import headline
from .aspects_text import aspect_blocks
from .blocks import Block, Paragraph, Quotations, Signatures, Title, Warnings
from .judges_text import judges_blocks
from .sentences import as_dicts
from .table import NOTHING, Column, Table, measured, number, percent, spaced, with_interval

SHEET = "The same cases under each setting; differences are paired by case, intervals clustered by user:"


def blocks(report: Report) -> list[Block]:
    """The report of one run."""
    result, *others = tables(report)
    signatures = {value: signature_line(run) for value, run in report.controls.items()}
    return [
        Title(report.run.label),
        Warnings(report.caveats, ceiling_note(report)),
        result,
        headline.shortcuts(report),
        headline.users(report),
        *judges_blocks(report),
        *others,
        *aspect_blocks(report),
        *_unread(report),
        *_sheet(report),
        *_published(report),
        Signatures({"signature": report.signature, **signatures}),
    ]


def ceiling_note(report: Report) -> list[str]:
    """The label ceiling of each group, in a sentence; empty without data."""
    places = ", ".join(f"{name} {100 * value:.1f}" for name, value in report.texts.ceiling.items())
    return [report.texts.ceiling_note.format(places)] if places else []


def tables(report: Report) -> list[Table]:
    """The tables of a report, the most important first. Scores and shares are in percent, the rest says what it is."""
    groups, spec = report.shown, report.run.benchmark.report
    labels = tuple(spaced(group.name) for group in groups)
    result = [
        Column("cases", tuple(map(_count, groups))),
        Column("users", tuple(f"{group.measures[spec.primary].users:,}" for group in groups)),
    ]
    for shown in spec.headline:
        result += _measured(report, shown)
    if spec.control is not None and any(group.gain for group in groups):
        result += with_interval(spec.control.gain, [group.gain for group in groups], sign=True)
    baselines = [
        Column(name, tuple(percent(group.baselines[name].value) for group in groups))
        for name in groups[-1].baselines
        if name not in (report.judges.baselines if report.judges else ())
    ]
    if spec.chance is not None:
        baselines.append(Column("chance", tuple(percent(spec.chance) for _ in groups)))
    slices: list[Column] = []
    for name in groups[-1].subsets:
        subsets = [group.subsets[name] for group in groups]
        if any(subset.n for subset in subsets):
            counts = Column("cases", tuple(f"{subset.n:,}" for subset in subsets), joined=True)
            slices += [*with_interval(report.texts.subsets[name][0], subsets, strong=False), counts]
    details: dict[str, list[Column]] = {}
    for shown in spec.details:
        details.setdefault(shown.table, []).extend(_measured(report, shown))
    reasons = [
        Column(reason, tuple(f"{group.reasons.get(reason, 0):,}" for group in groups))
        for reason in sorted({reason for group in groups for reason in group.reasons})
    ]
    return [
        Table("Result", labels, tuple(result)),
        Table("Baselines and chance" if spec.chance is not None else "Baselines", labels, tuple(baselines)),
        Table(f"{spec.score} in parts of the data", labels, tuple(slices)),
        *(Table(heading, labels, tuple(columns)) for heading, columns in details.items()),
        Table("Unreadable replies by reason", labels, tuple(reasons), corner=""),
    ]


def _count(group: Group) -> str:
    return f"{group.cases:,}" if group.cases == group.of else f"{group.cases:,} of {group.of:,}"


def _measured(report: Report, shown: Line) -> list[Column]:
    if shown.measure in report.run.benchmark.report.derived:
        values = tuple(number(shown, group.derived[shown.measure]) for group in report.shown)
        return [Column(shown.title, values, shown.strong)]
    return measured(shown, [group.measures[shown.measure] for group in report.shown])


def _unread(report: Report) -> list[Block]:
    """Some of the unreadable replies, for inspection."""
    if not report.unread:
        return []
    count = sum(report.overall.reasons.values())
    shown = [f"{case} {reason}: {said or '(empty)'}" for case, reason, said in report.unread]
    return [Quotations(f"Unreadable replies ({len(report.unread)} of {count:,}):", shown)]


def _sheet(report: Report) -> list[Block]:
    """The runs beside each other."""
    if report.sheet is None:
        return []
    return [Paragraph(SHEET), *map(Paragraph, sheet_notes(report.sheet)), *sheet_tables(report.sheet)]


def sheet_notes(sheet: Sheet) -> list[str]:
    """The differences that have a name, in words. Where one may be 0, how far from 0 it may be instead."""
    notes = []
    for name, named in sheet.named.items():
        notes.append(f"{named.name.capitalize()} is {name}: {named.meaning}.")
        found = max(sheet.columns, key=lambda column: column.cases).differences[name]
        if found.low <= 0 <= found.high:
            notes.append(
                f"None was found over all cases, which does not mean that there is none: it lies within "
                f"{100 * equivalence_bound(found):.1f} points of 0 (two one-sided tests at 5 %)."
            )
    return notes


def sheet_tables(sheet: Sheet) -> list[Table]:
    """The scores of the runs, and their differences."""
    labels = tuple(spaced(column.name) for column in sheet.columns)
    scores = [Column("cases", tuple(f"{column.cases:,}" for column in sheet.columns))]
    for name in sheet.runs:
        scores += with_interval(name, [column.scores[name] for column in sheet.columns])
    gaps: list[Column] = []
    for name in sheet.columns[0].differences:
        label = sheet.named[name].name if name in sheet.named else name
        gaps += with_interval(label, [column.differences[name] for column in sheet.columns], sign=True)
    return [Table("Scores", labels, tuple(scores)), Table("Differences", labels, tuple(gaps))]


def _published(report: Report) -> list[Block]:
    """What others published."""
    return [Paragraph(report.published.why), *published_tables(report)] if report.published else []


def published_tables(report: Report) -> list[Table]:
    """What was published for the rows of the report, and figures of other measures. What has nothing to show is left out."""
    if report.published is None:
        return []
    names = [group.name for group in report.shown]
    columns = tuple(
        Column(label, tuple(percent(values[name]) if name in values else NOTHING for name in names))
        for label, values in report.published.rows.items()
    )
    figures = [
        Table(
            f"Published: {shown.title}",
            tuple(values),
            (Column(shown.title, tuple(number(shown, x) for x in values.values())),),
            corner="%" if shown.share else "",
        )
        for shown, values in report.published.figures
    ]
    return [Table("Published", tuple(map(spaced, names)), columns), *figures]


def moved(found: Sensitivity) -> str:
    """How far the wording moves a score."""
    (low, lowest), *_, (high, highest) = found.acc.items()
    return (
        f"{found.model}, {spaced(found.group)}: acc {percent(lowest)} ({low}) to {percent(highest)} ({high}), a range of "
        f"{percent(found.range)} over {len(found.acc)} wordings; equally good ones would have {percent(found.chance)} on average "
        f"(p = {found.p:.3f})"
    )


def document(report: Report) -> dict[str, Any]:
    """Ready for JSON; nan becomes None."""
    run, sheet, judges = report.run, report.sheet, report.judges
    signatures = {value: signature_line(control) for value, control in report.controls.items()}
    return jsonable(
        {
            "model": run.model,
            "signature": report.signature,
            "beside": signatures,
            "partial": run.partial,
            "left_out": run.left_out,
            "demonstration": run.signature["demonstration"],
            "set": run.named_set.name if run.named_set else None,
            "caveats": as_dicts(report.caveats),
            "unread": [{"case": case, "reason": reason, "reply": reply} for case, reason, reply in report.unread],
            "ceiling": report.texts.ceiling,
            "groups": {group.name: asdict(group) for group in report.groups},
            "macro": asdict(report.macro) if report.macro else None,
            "shortcuts": {name: asdict(found) for name, found in report.shortcuts.items()},
            "judges": {
                "baselines": {name: _dicts(found) for name, found in judges.baselines.items()},
                "people": _dicts(judges.people),
                "agreement": _dicts(judges.agreement.coefficients) if judges.agreement else None,
                "notes": [*judges.notes, *([judges.agreement.note] if judges.agreement else [])],
            }
            if judges
            else None,
            "users": asdict(report.users) if report.users else None,
            "settings": {
                "signatures": {name: signature_line(one) for name, one in sheet.runs.items()},
                "named": {one.name: name for name, one in sheet.named.items()},
                "left_out": sheet.left_out,
                "groups": {column.name: asdict(column) for column in sheet.columns},
            }
            if sheet
            else None,
            "published": {
                "why": report.published.why,
                "rows": report.published.rows,
                "figures": {shown.title: values for shown, values in report.published.figures},
            }
            if report.published
            else None,
            **({"aspects": asdict(report.aspects)} if report.aspects else {}),
        }
    )


def _dicts(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: asdict(one) for name, one in estimates.items()}
