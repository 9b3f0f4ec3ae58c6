"""A report as a table: the same lines on a terminal and in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import RenderableType

from ..common import foreign
from ..common.statistics import Estimate
from ..engine import report as engine
from ..engine.rewards import TOTAL
from . import headline
from .report import Group, Report
from .sheet import Sheet
from .terminal import line, table

NOTHING = "–"
"""What is undefined or unknown."""


@dataclass(frozen=True)
class Line:
    """One line of the table: its label, and its text per group."""

    label: str
    texts: tuple[str, ...]
    strong: bool = False


def percent(value: float, sign: bool = False) -> str:
    """0.7351 -> 73.5."""
    return NOTHING if math.isnan(value) else f"{100 * value:{'+' if sign else ''}.1f}"


def interval(estimate: Estimate | None, sign: bool = False) -> str:
    """The 95 % interval in percent."""
    if estimate is None or math.isnan(estimate.low):
        return NOTHING
    between = " to " if sign or estimate.low < 0 else "–"
    return f"{percent(estimate.low, sign)}{between}{percent(estimate.high, sign)}"


def lines(report: Report) -> list[Line]:
    """The table of a report, one text per group. Scores and shares are in percent, the rest says what it is."""
    groups, spec = report.shown, report.run.benchmark.report
    found = [
        Line("cases", tuple(map(_count, groups))),
        Line("users", tuple(f"{group.measures[spec.primary].users:,}" for group in groups)),
    ]
    for shown in spec.headline:
        found += _measured(report, shown)
    if spec.control is not None and any(group.gain for group in groups):
        gains = [group.gain for group in groups]
        found += [
            Line(spec.control.gain, tuple(percent(gain.value, sign=True) if gain else NOTHING for gain in gains), True),
            Line(INTERVAL, tuple(interval(gain, sign=True) for gain in gains)),
        ]
    for name in groups[-1].baselines:
        found.append(Line(f"baseline: {name}", tuple(percent(group.baselines[name].value) for group in groups)))
    if spec.chance is not None:
        found.append(Line("chance", tuple(percent(spec.chance) for _ in groups)))
    for name in groups[-1].subsets:
        subsets = [group.subsets[name] for group in groups]
        if not any(subset.n for subset in subsets):
            continue
        found += [
            Line(report.labels[name], tuple(percent(subset.value) for subset in subsets)),
            Line(INTERVAL, tuple(map(interval, subsets))),
            Line("  cases", tuple(f"{subset.n:,}" for subset in subsets)),
        ]
    for shown in spec.details:
        found += _measured(report, shown)
    for reason in sorted({reason for group in groups for reason in group.reasons}):
        found.append(Line(f"  replies: {reason}", tuple(f"{group.reasons.get(reason, 0):,}" for group in groups)))
    return [entry for entry in found if not all(text == NOTHING for text in entry.texts)]


INTERVAL = "  95 % interval"


def _count(group: Group) -> str:
    return f"{group.cases:,}" if group.cases == group.of else f"{group.cases:,} of {group.of:,}"


def _measured(report: Report, shown: engine.Line) -> list[Line]:
    if shown.measure in report.run.benchmark.report.derived:
        values = [group.derived[shown.measure] for group in report.shown]
    else:
        values = [group.measures[shown.measure].value for group in report.shown]
    if all(math.isnan(value) for value in values):
        return []
    texts = [percent(value) if shown.share else _signed(value) for value in values]
    found = [Line(shown.title, tuple(texts), shown.strong)]
    if shown.interval:
        found.append(Line(INTERVAL, tuple(interval(group.measures[shown.measure]) for group in report.shown)))
    return found


def _signed(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{value:+.3f}"


def terminal(report: Report) -> list[RenderableType]:
    """What `terminal.show` prints."""
    parts: list[RenderableType] = [
        *(line(f"! {caveat}") for caveat in report.above),
        line(report.run.label, style="bold"),
        _drawn([group.name for group in report.shown], lines(report)),
        *map(line, headline.lines(report)),
        *_aspects_terminal(report),
        *map(line, unread(report)),
    ]
    if report.sheet:
        parts += [
            line(SHEET),
            *map(line, report.sheet.notes),
            _drawn([column.name for column in report.sheet.columns], sheet_lines(report.sheet)),
        ]
    if report.published:
        parts += [line(report.published.why), _drawn(*published_lines(report))]
    parts.append(line(f"signature: {report.signature}", style="dim"))
    return [*parts, *(line(f"{name}: {signature}", style="dim") for name, signature in signatures(report).items())]


def _drawn(header: Sequence[str], entries: Sequence[Line]) -> RenderableType:
    return table(
        ["%", *header],
        [(entry.label, *entry.texts) for entry in entries],
        bold=[number for number, entry in enumerate(entries) if entry.strong],
    )


SHEET = "The same cases under each setting; differences are paired by case, intervals clustered by user:"


def sheet_lines(sheet: Sheet) -> list[Line]:
    """The scores of the runs and their differences, one text per column."""
    columns, named = sheet.columns, sheet.named
    found = [Line("cases", tuple(f"{column.cases:,}" for column in columns))]
    for name in sheet.runs:
        scores = [column.scores[name] for column in columns]
        found += [
            Line(name, tuple(percent(score.value) for score in scores), strong=True),
            Line(INTERVAL, tuple(map(interval, scores))),
        ]
    for name in columns[0].differences:
        gaps = [column.differences[name] for column in columns]
        found += [
            Line(
                named[name].name if name in named else name, tuple(percent(gap.value, sign=True) for gap in gaps), True
            ),
            Line(INTERVAL, tuple(interval(gap, sign=True) for gap in gaps)),
        ]
    return found


def published_lines(report: Report) -> tuple[list[str], list[Line]]:
    """(names of the report's columns, what was published for them): rows with nothing there are left out."""
    names = [group.name for group in report.shown]
    rows = report.published.rows if report.published else {}
    found = [
        Line(label, tuple(percent(values[name]) if name in values else NOTHING for name in names))
        for label, values in rows.items()
        if values.keys() & set(names)
    ]
    return names, found


def signatures(report: Report) -> dict[str, str]:
    """The signatures of the runs beside the report's own: what each is -> its signature."""
    if report.sheet:
        return dict(list(report.sheet.signatures.items())[1:])
    return {"control": report.control_signature} if report.control_signature else {}


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
        _grid([group.name for group in report.shown], lines(report)),
        headline.markdown(report),
        *_aspects_markdown(report),
        foreign.fenced("\n".join(unread(report))) if report.unread else "",
    ]
    if report.sheet:
        parts += [
            SHEET,
            *map(foreign.markdown, report.sheet.notes),
            _grid([column.name for column in report.sheet.columns], sheet_lines(report.sheet)),
        ]
    if report.published:
        parts += [foreign.markdown(report.published.why), published(report)]
    parts.append(f"Signature: {foreign.code(report.signature)}")
    parts += [f"{name.capitalize()}: {foreign.code(signature)}" for name, signature in signatures(report).items()]
    return "\n\n".join(part for part in parts if part) + "\n"


def published(report: Report) -> str:
    """What others published, as a Markdown table."""
    return _grid(*published_lines(report))


def _grid(header: Sequence[str], entries: Sequence[Line]) -> str:
    rows = [[_label(entry), *(_strong(entry, text) for text in entry.texts)] for entry in entries]
    return grid(["%", *(name.replace("_", " ") for name in header)], rows)


def aspect_tables(report: Report) -> list[tuple[str, list[Line]]]:
    """(heading, lines) of the tables about the outputs of a reward model: accuracy, and correlation with the better response."""
    aspects = report.aspects
    if aspects is None:
        return []
    groups = [aspects.groups[group.name] for group in report.groups]
    published = [aspects.published.acc.get(group.name, {}) if aspects.published else {} for group in report.groups]
    accuracy = []
    for name in aspects.names:
        acc = [group.acc[name] for group in groups]
        accuracy.append(Line(name, tuple(percent(estimate.value) for estimate in acc)))
        accuracy.append(Line(INTERVAL, tuple(map(interval, acc))))
        if aspects.published and any(name in of_group for of_group in published):
            texts = tuple(percent(of_group.get(name, math.nan)) for of_group in published)
            accuracy.append(Line(f"  {aspects.published.label}", texts))
    correlated = [
        Line(name, tuple(_signed(group.pearson[name]) for group in groups)) for name in (TOTAL, *aspects.names)
    ]
    return [("accuracy of each aspect, %", accuracy), (f"correlation with {aspects.better}", correlated)]


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


def _aspects_terminal(report: Report) -> list[RenderableType]:
    names = [group.name for group in report.groups]
    tables = [
        table([heading, *names], [(entry.label, *entry.texts) for entry in entries])
        for heading, entries in aspect_tables(report)
    ]
    return [*tables, *map(line, aspect_notes(report))]


def _aspects_markdown(report: Report) -> list[str]:
    names = [group.name.replace("_", " ") for group in report.groups]
    tables = [
        grid([foreign.markdown(heading), *names], [[_label(entry), *entry.texts] for entry in entries])
        for heading, entries in aspect_tables(report)
    ]
    return [*tables, *map(foreign.markdown, aspect_notes(report))]


def grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: the first column left, the others right."""
    ruler = [":--", *["--:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ruler, *rows))


def _label(entry: Line) -> str:
    indent = "&nbsp;&nbsp;" if entry.label.startswith("  ") else ""
    text = indent + foreign.markdown(entry.label)
    return f"**{text}**" if entry.strong else text


def _strong(entry: Line, text: str) -> str:
    return f"**{text}**" if entry.strong else text
