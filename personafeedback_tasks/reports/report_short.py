"""A report on one screen: the verdict, its numbers, and a line on each thing that could be wrong with it."""

from __future__ import annotations

import json
import math

from ..analysis.place import place_of
from ..analysis.report import Report
from ..analysis.use import EXCESS
from ..core.method import RewardMethod
from ..core.report import Line
from ..logs.caveat import VOID, WEAKENS, Caveat
from ..logs.names import short_line
from ..stats.estimates import Estimate, percent
from . import headline
from .blocks import Block, Words, heading, lines, terminal
from .sentences import first_sentence, sentence
from .table import INTERVAL, NOTHING, Column, Table, gain, interval, number, spaced, with_ends, with_interval
from .terminal import WIDTH, height

SCREEN = 24
"""Lines of a terminal that a report takes at most."""

MOST_ROWS = 8
"""Cells above which the short form has no table of them."""


def blocks(report: Report, others: bool = False) -> list[Block]:
    """The short form of a report; one of several (`others`) has no table of the cells."""
    above = [
        heading(title(report)),
        lines([f"! {(sentence if caveat.severity == VOID else first_sentence)(caveat)}" for caveat in severe(report)]),
        lines([headline.verdict(report)], style="bold"),
        _numbers(report),
    ]
    checks = [check(report) for check in CHECKS if not (report.void and check in OF_THE_MODEL)]
    below = [*_asking(report), lines(checks), lines(_last(report), style="dim")]
    cells = [] if others else _cells(report)
    fits = height(terminal([*above, *cells, *below]), WIDTH) <= SCREEN
    return [*above, *(cells if fits else []), *below]


def title(report: Report) -> str:
    """The model, and what it was asked: `model, general hard: 1,010 cases of 101 users`."""
    run, overall = report.run, report.overall
    of = "" if overall.cases == overall.of else f" of {overall.of:,}"
    users = len({case.user_id for case in run.cases.values()})
    return f"{run.label}, {spaced(overall.name)}: {overall.cases:,}{of} cases, {users:,} users"


def severe(report: Report) -> list[Caveat]:
    """The caveats that every screen shows."""
    return [caveat for caveat in report.caveats if caveat.severity != WEAKENS]


def _numbers(report: Report) -> Words:
    run, spec, overall = report.run, report.run.benchmark.report, report.overall
    rows = []
    for line in run.headline:
        estimate = overall.measures[line.measure]
        if not math.isnan(estimate.value):
            rows.append((line.title, _score(line, estimate)))
            if line.measure == run.primary:
                chance = f"; chance {percent(spec.chance)}" if spec.chance is not None else ""
                rows[-1] = (run.score_name.lower(), f"{rows[-1][1]}{chance}")
    for column in headline.columns_beside(report, [overall]) if overall.cases else ():
        (text,) = column.texts
        if not column.joined:
            rows.append((column.heading, f"{text} %" if text != "none" else text))
        elif text != NOTHING:
            rows[-1] = (
                rows[-1][0],
                f"{rows[-1][1]}{' (' + text + ')' if column.heading == INTERVAL else ', in ' + text}",
            )
    found = report.differences(overall.name)
    rows += [(name, _points(found[name]) if name in found else "not asked") for name in report.named_controls]
    rows += [(EXCESS, _points(excess)) for name, excess in report.excess.items() if name == overall.name]
    width = max([0, *(len(name) for name, _ in rows)]) + 2
    return lines([f"{name:{width}}{text}" for name, text in rows])


def _score(line: Line, estimate: Estimate) -> str:
    if line.none and estimate.value == 0:
        return line.none.format(n=estimate.n)
    ends = f" ({interval(estimate)})" if line.interval and line.is_share and not math.isnan(estimate.low) else ""
    return f"{number(line, estimate.value)}{' %' if line.is_share else ''}{ends}"


def _points(estimate: Estimate) -> str:
    ends = "" if math.isnan(estimate.low) else f" ({interval(estimate, sign=True)})"
    return f"{gain(estimate.value)}{'' if math.isnan(estimate.value) else ' points'}{ends}"


def _asking(report: Report) -> list[Block]:
    # no advice where the run itself must be repeated, or no harness made it
    run, control = report.run, report.run.benchmark.report.control
    missing = [
        value for name, value in report.named_controls.items() if name not in report.differences(report.overall.name)
    ]
    if control is None or report.void or not missing or not run.harness.startswith(("lm-eval", "inspect")):
        return []
    settings = ",".join(missing)
    option = f"-T {control.option}={settings}"
    if run.harness.startswith("lm-eval"):
        option = f"--metadata '{json.dumps({control.option: settings})}'"
    return [lines([f"To ask for {' and '.join(missing)}, repeat the run with {option}."])]


def _cells(report: Report) -> list[Block]:
    primary = report.run.primary
    cells = [group for group in report.groups if group.name in report.run.cells]
    if not 1 < len(cells) <= MOST_ROWS:
        return []
    columns = [Column("cases", tuple(f"{group.cases:,}" for group in cells))]
    columns += with_interval(primary, [group.measures[primary] for group in cells])
    for name in report.named_controls:
        columns += with_interval(
            name, [report.differences(group.name).get(name) for group in cells], sign=True, strong=False
        )
    return [Table("", tuple(spaced(group.name) for group in cells), tuple(columns[:5]))]


def _place(report: Report) -> str:
    place = place_of(report.run) if report.run.method.primary else None
    if place is None or not place.decides:
        return ""
    return f"place: {place.name} response in {percent(place.calls.value)} % of the calls, {percent(place.cases.value)} % of the cases by place alone"


def _shortcuts(report: Report) -> str:
    found = report.shortcuts.get(report.overall.name)
    if found is None:
        return ""
    most = report.overall.cases / 2  # a baseline that seldom picks says little
    same = [
        f"{name} {100 * agreement.same:.0f} %"
        for name, agreement in found.baselines.items()
        if agreement.kappa.n > most
    ]
    parts = [f"same picks as {', '.join(same)}"] if same else []
    if found.adjusted is not None:
        unknown = math.isnan(found.adjusted.value)
        parts.append(
            f"{report.run.benchmark.report.adjusted} {headline.TOO_FEW if unknown else f'{with_ends(found.adjusted)} %'}"
        )
    return f"shortcuts: {'; '.join(parts)}" if parts else ""


def _users(report: Report) -> str:
    users = report.users
    if users is None:
        return ""
    groups = "; ".join(headline.differing(users)) or ("no group differs" if users.slices else "")
    spread = f"users: standard deviation {percent(users.spread)} ({percent(users.low)}–{percent(users.high)}) points beyond chance"
    return f"{spread}; {groups}" if groups else spread


def unreadable(report: Report) -> str:
    overall = report.overall
    if isinstance(report.run.method, RewardMethod) or not overall.replies:
        return ""
    count = sum(overall.reasons.values())
    most = ", ".join(f"{reason} {count:,}" for reason, count in overall.reasons.items())
    of_each = f", {percent(count / overall.replies)} % ({most})" if most else ""
    return f"unreadable replies: {count:,} of {overall.replies:,}{of_each}"


def _ceiling(report: Report) -> str:
    # where labels allow 100 %, how often people label alike what the data have twice
    places = ", ".join(f"{name} {value} %" for name, value in headline.ceilings(report).items())
    if places:
        return f"label ceiling of these cells: {places}"
    note = report.texts.label_note.removeprefix("Labels ").removesuffix(".")
    return f"labels: {note[0].lower()}{note[1:]}" if note else ""


CHECKS = (_place, _shortcuts, _users, unreadable, _ceiling)
"""A line each on place, shortcuts, users, unreadable replies, and the ceiling or repeats of labels."""

OF_THE_MODEL = (_place, _shortcuts, _users)
"""Checks that say something about the model, which void numbers do not."""


def _last(report: Report) -> list[str]:
    more = len(report.caveats) - len(severe(report))
    caveats = f"{more} more caveat{'s' if more > 1 else ''}, " if more else ""
    return [short_line(report.run), f"--full shows {caveats}every table and the whole signature"]
