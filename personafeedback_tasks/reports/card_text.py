"""The text of a model card about a run: what was measured, the caveats, how to run it again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.groups import Group
from ..analysis.report import Report
from ..analysis.sheet import Sheet
from ..common import foreign
from ..engine.cases import CaseSet
from ..engine.report import CardFacts, CardSpec
from ..runs.caveat import VOID
from ..runs.run import Run
from ..runs.signature_line import model_of, signature_line
from .card_command import command
from .report_text import differences, published_tables, sheet_notes
from .sentences import sentence
from .table import Column, Table, interval, percent, spaced, with_interval

PACKAGE = "personafeedback-tasks"
_NOT_MEASURED = "not measured."
_MACRO = " `macro` is the plain mean of the cells."


def variant(run: Run) -> str:
    """The key that tells apart the runs in one card. It is part of a comment's marker."""
    asked = ", ".join(run.remarks) or str(run.signature[run.benchmark.options.always()[0]])
    return foreign.comment(f"{run.remark}: {asked}" if run.remark else asked)


def unreadable(group: Group) -> dict[str, int]:
    """Reason -> unreadable replies. A refusal is model behavior, not a fault of the setup."""
    return {reason: count for reason, count in group.reasons.items() if reason != "refusal"}


def counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in reasons.items()) or "none"


def signature_of(report: Report) -> str:
    """The signature of the numbers, without the folders of this machine."""
    return signature_line(report.run, report.texts.version, public=True)


def section(report: Report, cases: CaseSet[Any], spec: CardSpec) -> str:
    """The Markdown section of a card: what was measured, the numbers, their caveats, the command, the signature."""
    run, overall = report.run, report.overall
    heading = f"{run.title} ({', '.join(run.remarks)})" if run.remarks else run.title
    reasons = unreadable(overall)
    replies = (
        f"Of {overall.replies:,} replies {overall.reasons.get('refusal', 0):,} were refusals and {sum(reasons.values()):,} otherwise "
        f"unreadable ({foreign.markdown(counted(reasons))})."
    )
    baselines = "; ".join(f"{name} {does}" for name, does in spec.baselines.items())
    controls = "".join(
        f"  \nControl {value}: {foreign.code(signature_line(control, public=True))}"
        for value, control in report.controls.items()
    )
    void, others = (
        [foreign.markdown(sentence(caveat)) for caveat in report.caveats if (caveat.severity == VOID) is first]
        for first in (True, False)
    )
    measures = [
        name for name in spec.measures if any(not math.isnan(group.measures[name].value) for group in report.groups)
    ]
    sheet = report.sheet if report.sheet and report.sheet.named else None
    parts = [
        f"## {foreign.markdown(heading)}",
        *void,
        spec.measured(foreign.code(model_of(run)), run.signature, measures, cases),
        *_table(report, spec, measures).markdown(),
        f"All values in percent; 95 % intervals clustered by user. Baselines on the same cases: {baselines}.{_MACRO if report.macro else ''}",
        *([foreign.markdown(" ".join(sheet_notes(sheet))), *_differences(sheet).markdown()] if sheet else []),
        *([foreign.markdown(report.published.why)] if report.published else []),
        *(part for table in published_tables(report) for part in table.markdown()),
        "" if run.method.evidence == "rewards" else replies,
        "What these numbers do not show:",
        "\n".join(f"- {caveat}" for caveat in (*_of_every_card(report, cases, spec), *others)),
        f"To run it again (the signature has everything else that shapes a call):\n\n{foreign.fenced(command(run, spec), 'bash')}",
        f"Signature: {foreign.code(signature_of(report))}{controls}",
    ]
    return "\n\n".join(part for part in parts if part)


def _table(report: Report, spec: CardSpec, measures: Sequence[str]) -> Table:
    """The numbers, the baselines and the gain."""
    groups, control = report.shown, report.run.benchmark.report.control
    columns: list[Column] = []
    for name in measures:
        columns += with_interval(name, [group.measures[name] for group in groups])
    columns.append(Column("cases", tuple(f"{group.cases:,}" for group in groups)))
    columns.append(Column("users", tuple(f"{group.measures[measures[0]].users:,}" for group in groups)))
    for name in spec.baselines:
        columns.append(Column(f"baseline: {name}", tuple(percent(group.baselines[name].value) for group in groups)))
    if control is not None and any(group.gain for group in groups):
        columns += with_interval(control.gain, [group.gain for group in groups], sign=True, strong=False)
    elif control is not None:
        columns.append(Column(control.gain, ("not measured",) * len(groups)))
    return _whole([group.name for group in groups], columns)


def _differences(sheet: Sheet) -> Table:
    """The named differences between the runs."""
    cases = Column("cases", tuple(f"{column.cases:,}" for column in sheet.columns))
    return _whole([column.name for column in sheet.columns], [cases, *differences(sheet, list(sheet.named))])


def _whole(names: Sequence[str], columns: Sequence[Column]) -> Table:
    """One table for all columns, however wide: a page wraps it."""
    return Table("", tuple(map(spaced, names)), tuple(columns), corner="", undefined=True, whole=True)


def _of_every_card(report: Report, cases: CaseSet[Any], spec: CardSpec) -> list[str]:
    """The benchmark's own caveats with the figures of this run, and the gain over the control."""
    run, overall = report.run, report.overall
    held = {group.name for group in report.groups} | {
        name for name, cells in run.benchmark.columns(run.benchmark.cells).items() if set(cells) & set(run.cells)
    }
    whole = [group.name for group in report.groups]
    facts = CardFacts(
        languages=Counter(case.language for case in cases if case.id in run.cases),
        ceilings=[
            f"{name} {percent(value)} %"
            for name, value in report.texts.ceiling.items()
            if name in held and (name != "total" or "total" in whole)
        ],
        baselines={name: percent(baseline.value) for name, baseline in overall.baselines.items()},
        prompt=str(run.signature["fingerprint"]),
        cases=cases,
        package=PACKAGE,
    )
    caveats = spec.caveats(facts)
    if lead := _lead_of_gain(run):
        gain = overall.gain
        measured = _NOT_MEASURED
        if gain is not None:
            measured = f"{percent(gain.value, sign=True)} points, 95 % interval {interval(gain, sign=True)}."
        caveats.append(f"{lead}{measured}")
    return caveats


def _lead_of_gain(run: Run) -> str:
    """The beginning of the sentence on the gain; empty for a benchmark without a control."""
    spec = run.benchmark.report
    if spec.control is None:
        return ""
    return f"{spec.control.gain.capitalize()} ({spec.primary} minus that of the same model {spec.control.without}): "


def dropped(report: Report, before: str) -> str:
    """What a section that takes the place of an earlier one no longer says; empty if it says all of it.

    Args:
        before: the earlier section; empty if there was none.
    """
    lead, control = _lead_of_gain(report.run), report.run.benchmark.report.control
    if control is None or report.overall.gain is not None:
        return ""
    measured = before.partition(lead)[2]
    if not measured or measured.startswith(_NOT_MEASURED):
        return ""
    return f"The {control.gain} that the section had is gone: it belongs to both runs. To keep it, pass --{control.value.replace('_', '-')} RUN."
