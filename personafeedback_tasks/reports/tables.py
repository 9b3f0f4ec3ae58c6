"""A report as tables: the same ones on a terminal and in Markdown. Their rows are cells and groups of cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rich.console import RenderableType

from ..analysis.groups import Group
from ..analysis.sheet import Sheet
from ..common import foreign
from ..engine import report as engine
from ..engine.rewards import TOTAL
from . import baselines as judges
from . import headline
from . import table as layout
from .report import Report
from .table import NOTHING, Column, Table, grid, interval, percent, signed, spaced, with_interval
from .terminal import line

__all__ = ["NOTHING", "Column", "Table", "grid", "interval", "markdown", "percent", "terminal"]


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
            slices += [*with_interval(report.labels[name], subsets, strong=False), counts]
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


def _measured(report: Report, shown: engine.Line) -> list[Column]:
    if shown.measure in report.run.benchmark.report.derived:
        values = tuple(layout.number(shown, group.derived[shown.measure]) for group in report.shown)
        return [Column(shown.title, values, shown.strong)]
    return layout.measured(shown, [group.measures[shown.measure] for group in report.shown])


def terminal(report: Report) -> list[RenderableType]:
    """What `terminal.show` prints."""
    parts: list[RenderableType] = [
        *(line(f"! {caveat}") for caveat in report.above),
        line(report.run.label, style="bold"),
        line(""),
        *layout.drawn(tables(report)[:1]),
        *map(line, headline.lines(report)),
        line(""),
        *judges.terminal(report.run.benchmark, report.overall, report.judges),
        *layout.drawn(tables(report)[1:]),
        *layout.drawn(aspect_tables(report)),
        *map(line, aspect_notes(report)),
        *map(line, unread(report)),
    ]
    if report.sheet:
        parts += [line(SHEET), *map(line, report.sheet.notes), *layout.drawn(sheet_tables(report.sheet))]
    if report.published:
        parts += [line(report.published.why), *layout.drawn(published_tables(report))]
    parts.append(line(f"signature: {report.signature}", style="dim"))
    return [*parts, *(line(f"{name}: {signature}", style="dim") for name, signature in report.signatures.items())]


SHEET = "The same cases under each setting; differences are paired by case, intervals clustered by user:"


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
            (Column(shown.title, tuple(layout.number(shown, x) for x in values.values())),),
            corner="%" if shown.share else "",
        )
        for shown, values in report.published.figures
    ]
    return [Table("Published", tuple(map(spaced, names)), columns), *figures]


def unread(report: Report) -> list[str]:
    """Some of the unreadable replies, for inspection."""
    if not report.unread:
        return []
    count = sum(report.overall.reasons.values())
    return [
        f"Unreadable replies ({len(report.unread)} of {count:,}):",
        *(f"  {case} {reason}: {said or '(empty)'}" for case, reason, said in report.unread),
    ]


def markdown(report: Report, level: int = 2) -> str:
    """A section of a Markdown file."""
    parts = [
        f"{'#' * level} {foreign.markdown(report.run.label)}",
        "\n".join(f"> {foreign.markdown(caveat)}  " for caveat in report.above),
        *layout.markdown(tables(report)[:1], level + 1),
        headline.markdown(report),
        *judges.markdown(report.run.benchmark, report.overall, report.judges, level + 1),
        *layout.markdown(tables(report)[1:], level + 1),
        *layout.markdown(aspect_tables(report), level + 1),
        *map(foreign.markdown, aspect_notes(report)),
        foreign.fenced("\n".join(unread(report))) if report.unread else "",
    ]
    if report.sheet:
        parts += [
            SHEET,
            *map(foreign.markdown, report.sheet.notes),
            *layout.markdown(sheet_tables(report.sheet), level + 1),
        ]
    if report.published:
        parts += [foreign.markdown(report.published.why), published(report, level + 1)]
    parts.append(f"Signature: {foreign.code(report.signature)}")
    parts += [f"`{name}`: {foreign.code(signature)}" for name, signature in report.signatures.items()]
    return "\n\n".join(part for part in parts if part) + "\n"


def published(report: Report, level: int) -> str:
    """What others published, in Markdown."""
    return "\n\n".join(layout.markdown(published_tables(report), level))


def aspect_tables(report: Report) -> list[Table]:
    """The outputs of a reward model: the accuracy of each, and its correlation with the better response.

    Rows are cells, as everywhere, unless there are more aspects than cells: then the other way round.
    """
    aspects = report.aspects
    if aspects is None:
        return []
    groups = [group.name for group in report.groups]
    paper = aspects.published

    def accuracy(pairs: Sequence[tuple[str, str]], heading: str) -> list[Column]:
        """The columns for some (group, aspect)."""
        assert aspects is not None
        found = with_interval(heading, [aspects.groups[group].acc[aspect] for group, aspect in pairs])
        if paper is None or not any(aspect in paper.acc.get(group, {}) for group, aspect in pairs):
            return found
        theirs = tuple(percent(paper.acc.get(group, {}).get(aspect, math.nan)) for group, aspect in pairs)
        return [*found, Column(paper.label, theirs, joined=True)]

    def correlation(pairs: Sequence[tuple[str, str]], heading: str) -> list[Column]:
        assert aspects is not None
        return [Column(heading, tuple(signed(aspects.groups[group].pearson[aspect]) for group, aspect in pairs))]

    def made(
        heading: str, names: Sequence[str], columns: Callable[[Sequence[tuple[str, str]], str], list[Column]], unit: str
    ) -> Table:
        found: list[Column] = []
        if len(names) > len(groups):
            for group in groups:
                found += columns([(group, name) for name in names], spaced(group))
            return Table(heading, tuple(names), tuple(found), unit, undefined=True)
        for name in names:
            found += columns([(group, name) for group in groups], name)
        return Table(heading, tuple(map(spaced, groups)), tuple(found), unit, undefined=True)

    return [
        made("Accuracy of each aspect", aspects.names, accuracy, "%"),
        made(f"Correlation with {aspects.better}", (TOTAL, *aspects.names), correlation, ""),
    ]


def aspect_notes(report: Report) -> list[str]:
    """What the numbers of `aspect_tables` are."""
    if report.aspects is None:
        return []
    count = report.aspects.groups[report.overall.name].responses
    return [
        "A tie counts as wrong. Correlations are Pearson's over both responses of every case "
        f"({count:,} in all; one that is in several cases counts in each), with epochs averaged; {NOTHING} is undefined.",
        *([report.aspects.published.source] if report.aspects.published else []),
    ]
