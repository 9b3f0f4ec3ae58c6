"""A report on a terminal and in Markdown: in short, on one screen; or full, with every table."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from ..analysis.groups import Group
from ..analysis.measures import BASELINES, RESULT, Measure
from ..analysis.place import place_of
from ..analysis.report import Report
from ..core.method import RewardMethod
from ..logs.caveat import VOID, WEAKENS
from ..logs.names import short_line, signature_line
from ..stats.estimates import percent
from . import costs_text
from .blocks import Block, Words, bullets, heading, lines, paragraph, quoted, signatures, terminal, warnings
from .sentences import first_sentence, sentence, verdict
from .table import INTERVAL, NOTHING, Column, Table, measured, signed, spaced, with_ends
from .terminal import WIDTH, height

SCREEN = 24
"""Lines of a terminal that a short report takes at most."""

MOST_ROWS = 8
"""Cells above which the short form has no table of them."""


def full(report: Report) -> list[Block]:
    """Everything, the most important first."""
    result, *details = tables(report)
    run, about = report.run, [one for one in report.measures if one.kind == "difference" and one.table == RESULT]
    return [
        heading(f"{run.label}: {spaced(report.overall.name)}" if len(report.shown) == 1 else run.label),
        warnings(report.caveats, ceiling(report)),
        paragraph(verdict(report)),
        result,
        bullets([f"{one.heading}: {one.meaning}." for one in about]),
        lines([users(report)]),
        *_beside(report),
        *details,
        *_unread(report),
        *costs_text.blocks(report.costs),
        signatures(
            {
                "signature": report.signature,
                **{name: signature_line(control) for name, control in report.controls.items()},
            }
        ),
    ]


def short(report: Report, others: bool = False) -> list[Block]:
    """The verdict, its numbers, and a line on each thing that could be wrong with it; one of several (`others`) has no table of
    the cells."""
    severe = [caveat for caveat in report.caveats if caveat.severity != WEAKENS]
    run, more = report.run, len(report.caveats) - len(severe)
    rest = f"{more} more caveat{'s' if more > 1 else ''}, " if more else ""
    of_model = [] if report.void else [_place(report), _same_picks(report), users(report)]
    above = [
        heading(title(report)),
        lines([f"! {(sentence if caveat.severity == VOID else first_sentence)(caveat)}" for caveat in severe]),
        lines([verdict(report)], style="bold"),
        _numbers(report),
    ]
    below = [
        *_asking(report),
        lines([*of_model, unreadable(report), _labels(report)]),
        lines([short_line(run), f"--full shows {rest}every table and the whole signature"], style="dim"),
    ]
    cells = [] if others else _cells(report)
    fits = height(terminal([*above, *cells, *below]), WIDTH) <= SCREEN
    return [*above, *(cells if fits else []), *below]


def title(report: Report) -> str:
    """The model, and what it was asked: `model, general hard: 1,010 cases of 101 users`."""
    users = len({case.user_id for case in report.run.cases.values()})
    return f"{report.run.label}, {spaced(report.overall.name)}: {_count(report.overall)} cases, {users:,} users"


# --- tables -----------------------------------------------------------------------------------------------------------


def tables(report: Report) -> list[Table]:
    """The tables of a report, the most important first. Scores and shares are in percent, unless titled otherwise."""
    groups, spec = report.shown, report.run.benchmark.report
    users = tuple(f"{group.measures[report.run.primary].users:,}" for group in groups)
    found = {RESULT: [Column("cases", tuple(map(_count, groups))), Column("users", users)]}
    for measure in report.measures:
        if measure.table:
            found.setdefault(measure.table, []).extend(columns_of(report, measure, groups))
    if spec.chance is not None:
        found.setdefault(BASELINES, []).append(Column("chance", (percent(spec.chance),) * len(groups)))
    labels, single = tuple(spaced(group.name) for group in groups), len(groups) == 1
    made = [Table(name, labels, tuple(columns), single=single) for name, columns in found.items()]
    reasons = sorted({reason for group in groups for reason in group.reasons})
    counts = [Column(reason, tuple(f"{group.reasons.get(reason, 0):,}" for group in groups)) for reason in reasons]
    return [*made, Table("Unreadable replies by reason", labels, tuple(counts), corner="", single=single)]


def columns_of(report: Report, measure: Measure, groups: Sequence[Group]) -> list[Column]:
    """A measure, its interval, and of how many cases it is."""
    found = [group.measures.get(measure.key) for group in groups]
    columns = measured(measure, found)
    if measure.counted and any(one and one.n for one in found):
        counts = zip(found, groups, strict=True)
        texts = [_counted(report, measure, one.n, group.cases) if one else NOTHING for one, group in counts]
        columns.append(Column("in", tuple(texts), joined=True))
    return columns


def _counted(report: Report, measure: Measure, count: int, cases: int) -> str:
    units = report.run.benchmark.units
    if measure.counted != "cases":
        return f"{count:,} {measure.counted}"
    return (
        f"{count // units.size:,} of {cases // units.size:,} {units.name}s"
        if units
        else f"{count:,} of {cases:,} cases"
    )


def _cells(report: Report) -> list[Block]:
    cells = [group for group in report.groups if group.name in report.run.cells]
    if not 1 < len(cells) <= MOST_ROWS:
        return []
    shown = (report.run.primary, *(name.replace(" ", "_") for name in report.named_controls))
    columns = [Column("cases", tuple(f"{group.cases:,}" for group in cells))]
    for key in shown[:2]:
        for measure in (one for one in report.measures if one.key == key):
            columns += measured(measure, [group.measures.get(key) for group in cells])
    return [Table("", tuple(spaced(group.name) for group in cells), tuple(columns))]


def _count(group: Group) -> str:
    return f"{group.cases:,}" if group.cases == group.of else f"{group.cases:,} of {group.of:,}"


# --- lines ------------------------------------------------------------------------------------------------------------


def _numbers(report: Report) -> Words:
    spec, overall, rows = report.run.benchmark.report, report.overall, {}
    for measure in report.measures:
        value = overall.measures.get(measure.key)
        if measure.table != RESULT or value is None or (math.isnan(value.value) and measure.kind != "difference"):
            continue
        (first, *others) = columns_of(report, measure, [overall])
        unit = {"share": " %", "difference": " points"}.get(measure.unit, "") if first.texts[0][-1].isdigit() else ""
        text = f"{first.texts[0]}{unit}"
        for column in others:
            if column.texts[0] != NOTHING:
                text += f" ({column.texts[0]})" if column.heading == INTERVAL else f", in {column.texts[0]}"
        if measure.key == report.run.primary and spec.chance is not None:
            text += f"; chance {percent(spec.chance)}"
        rows[report.run.score_name.lower() if measure.key == report.run.primary else measure.heading] = text
    for name in report.named_controls:
        rows.setdefault(name, "not asked")
    width = max([0, *map(len, rows)]) + 2
    return lines([f"{name:{width}}{text}" for name, text in rows.items()])


def _asking(report: Report) -> list[Block]:
    # no advice where the run itself must be repeated, or no harness made it
    run, control = report.run, report.run.benchmark.report.control
    known = report.differences(report.overall)
    missing = [value for name, value in report.named_controls.items() if name not in known]
    if control is None or report.void or not missing or not run.harness.startswith(("lm-eval", "inspect")):
        return []
    settings = ",".join(missing)
    option = f"-T {control.option}={settings}"
    if run.harness.startswith("lm-eval"):
        option = f"--metadata '{json.dumps({control.option: settings})}'"
    return [lines([f"To ask for {' and '.join(missing)}, repeat the run with {option}."])]


def _place(report: Report) -> str:
    place = place_of(report.run) if report.run.method.primary else None
    if place is None or not place.decides:
        return ""
    return f"place: {place.name} response in {percent(place.calls.value)} % of the calls, {percent(place.cases.value)} % of the cases by place alone"


def _same_picks(report: Report) -> str:
    # a baseline that seldom picks says little
    found = [(one.baseline, report.overall.measures[one.key]) for one in report.measures if one.kind == "shared"]
    same = [f"{name} {100 * one.value:.0f} %" for name, one in found if one.n > report.overall.cases / 2]
    return f"shortcuts: same picks as {', '.join(same)}" if same else ""


def users(report: Report) -> str:
    """How far the users differ."""
    if report.users is None:
        return ""
    spread, low, high = map(percent, (report.users.spread, report.users.low, report.users.high))
    return f"users: standard deviation {spread} ({low}–{high}) points beyond chance"


def unreadable(report: Report) -> str:
    """How many replies could not be read; empty where there are none."""
    overall = report.overall
    if isinstance(report.run.method, RewardMethod) or not overall.replies:
        return ""
    count = sum(overall.reasons.values())
    most = ", ".join(f"{reason} {count:,}" for reason, count in overall.reasons.items())
    of_each = f", {percent(count / overall.replies)} % ({most})" if most else ""
    return f"unreadable replies: {count:,} of {overall.replies:,}{of_each}"


def _ceilings(report: Report) -> dict[str, str]:
    # group of the run and the highest score that the labels allow, in percent, where that is below 100
    columns = report.run.benchmark.columns(report.run.benchmark.cells)
    whole = {group.name for group in report.groups}
    held = whole | {name for name, cells in columns.items() if name != "total" and set(cells) & set(report.run.cells)}
    values = {name: percent(value) for name, value in report.texts.ceiling.items() if name in held}
    return {name: value for name, value in values.items() if value != "100.0"}


def _labels(report: Report) -> str:
    # where labels allow 100 %, how often people label alike what the data have twice
    if places := _ceilings(report):
        return f"label ceiling of these cells: {', '.join(f'{name} {value} %' for name, value in places.items())}"
    note = report.texts.label_note.removeprefix("Labels ").removesuffix(".")
    return f"labels: {note[0].lower()}{note[1:]}" if note else ""


def ceiling(report: Report) -> list[str]:
    """The label ceiling of each group, in a sentence; nothing without data."""
    places = ", ".join(f"{name} {value}" for name, value in _ceilings(report).items())
    return [*([report.texts.ceiling_note.format(places)] if places else []), *filter(None, [report.texts.label_note])]


def _beside(report: Report) -> list[Block]:
    # the run and the baselines that answer, one below the other; and how far people agree
    compared, judges = report.run.benchmark.report.compared, report.judges
    if not compared:
        return []
    rows = {"this run": report.overall.measures, **(judges.baselines if judges else {})}
    columns: list[Column] = []
    for line in compared:
        columns += measured(line, [measures[line.measure] for measures in rows.values()])
    beside = Table("Beside baselines", tuple(rows), tuple(columns))
    if judges is None:  # without data at hand
        return [beside]
    values = "; ".join(f"{name} {with_ends(value, signed)}" for name, value in judges.agreement.items())
    people = f"People's agreement ({judges.note}): {values}." if values else judges.note
    return [beside, lines([people])]


def _unread(report: Report) -> list[Block]:
    if not report.unread:
        return []
    count = sum(report.overall.reasons.values())
    replies = [f"{one.case} {one.reason}: {one.reply or '(empty)'}" for one in report.unread]
    return [quoted(f"Unreadable replies ({len(replies)} of {count:,}):", replies)]


# --- several reports --------------------------------------------------------------------------------------------------


def wording_ranges(reports: Sequence[Report]) -> list[str]:
    """A sentence for each model that was asked in several wordings."""
    alike: dict[str, list[tuple[float, str, Report]]] = {}
    for report in reports:
        run, wording = report.run, report.run.benchmark.report.wording
        if wording:
            same = {name: value for name, value in run.same.items() if name not in (*wording, "fingerprint")}
            cases = {case_id: case.digest for case_id, case in sorted(run.cases.items())}
            words = ", ".join(str(run.signature.options[name]) for name in wording)
            alike.setdefault(repr((same, cases)), []).append(
                (report.overall.measures[run.primary].value, words, report)
            )
    lines = []
    for of_model in alike.values():
        (lowest, low, first), *_, (highest, high, _) = sorted(of_model, key=lambda one: one[0]) * 2
        count = len({words for _, words, _ in of_model})
        if count > 1:
            lines.append(
                f"{first.run.model}, {spaced(first.overall.name)}: {first.run.primary} {percent(lowest)} ({low}) to {percent(highest)} ({high}) "
                f"over {count} wordings."
            )
    return lines
