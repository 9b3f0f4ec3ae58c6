"""The text of a model card about a run: what was measured, the caveats, how to run it again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..analysis.groups import Group
from ..analysis.report import Report
from ..common import foreign
from ..engine.cases import CaseSet
from ..engine.report import CardFacts, CardSpec, Control, ReportSpec
from ..runs.caveat import VOID
from ..runs.run import Run
from ..runs.signature_line import model_of, signature_line
from .card_command import command
from .report_text import published_tables, sheet_notes
from .sentences import sentence
from .table import NOTHING, grid, interval, percent

PACKAGE = "personafeedback-tasks"
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
    title = run.title
    heading = f"{title} ({', '.join(run.remarks)})" if run.remarks else title
    reasons = unreadable(overall)
    replies = (
        ""
        if run.method.evidence == "rewards"
        else (
            f"Of {overall.replies:,} replies {overall.reasons.get('refusal', 0):,} were refusals and {sum(reasons.values()):,} otherwise "
            f"unreadable ({foreign.markdown(counted(reasons))})."
        )
    )
    baselines = "; ".join(f"{name} {does}" for name, does in spec.baselines.items())
    controls = "".join(
        f"  \nControl {value}: {foreign.code(signature_line(control, public=True))}"
        for value, control in report.controls.items()
    )
    void, others = (
        [foreign.markdown(sentence(one)) for one in report.caveats if (one.severity == VOID) is first]
        for first in (True, False)
    )
    known = [*_of_every_card(report, cases, spec), *others]
    parts = [
        f"## {foreign.markdown(heading)}",
        *void,
        spec.measured(foreign.code(model_of(run)), run.signature, _measures(report, spec), cases),
        _table(report, spec),
        f"All values in percent; 95 % intervals clustered by user. Baselines on the same cases: {baselines}.{_MACRO if report.macro else ''}",
        *_differences(report),
        *([foreign.markdown(report.published.why)] if report.published else []),
        *(part for table in published_tables(report) for part in table.markdown(3)),
        replies,
        "What these numbers do not show:",
        "\n".join(f"- {caveat}" for caveat in known),
        f"To run it again (the signature has everything else that shapes a call):\n\n{foreign.fenced(command(run, spec), 'bash')}",
        f"Signature: {foreign.code(signature_of(report))}{controls}",
    ]
    return "\n\n".join(part for part in parts if part)


def _measures(report: Report, spec: CardSpec) -> list[str]:
    return [name for name in spec.measures if any(_defined(group, name) for group in report.groups)]


def _table(report: Report, spec: CardSpec) -> str:
    measures, control = _measures(report, spec), report.run.benchmark.report.control
    gained = any(group.gain for group in report.groups)
    header = [""]
    for name in measures:
        header += [name, "95 % interval"]
    header += ["cases", "users", *(f"baseline: {name}" for name in spec.baselines)]
    if control is not None:
        header += [control.gain, "95 % interval"] if gained else [control.gain]
    rows = []
    for group in report.shown:
        row = [group.name.replace("_", " ")]
        for name in measures:
            row += [f"**{percent(group.measures[name].value)}**", interval(group.measures[name])]
        row += [f"{group.cases:,}", f"{group.measures[measures[0]].users:,}"]
        row += [percent(group.baselines[name].value) for name in spec.baselines]
        if control is not None:
            row.append(percent(group.gain.value, sign=True) if group.gain else NOTHING if gained else "not measured")
            row += [interval(group.gain, sign=True)] if gained else []
        rows.append(row)
    return grid(header, rows)


def _differences(report: Report) -> list[str]:
    """What the named differences between the runs are, and a table of them."""
    sheet = report.sheet
    if sheet is None or not sheet.named:
        return []
    header = ["", "cases"]
    for one in sheet.named.values():
        header += [one.name, "95 % interval"]
    rows = []
    for column in sheet.columns:
        row = [column.name.replace("_", " "), f"{column.cases:,}"]
        for name in sheet.named:
            gap = column.differences[name]
            row += [f"**{percent(gap.value, sign=True)}**", interval(gap, sign=True)]
        rows.append(row)
    return [foreign.markdown(" ".join(sheet_notes(sheet))), grid(header, rows)]


def _defined(group: Group, measure: str) -> bool:
    return not math.isnan(group.measures[measure].value)


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
    found = spec.caveats(facts)
    control, gain = run.benchmark.report.control, overall.gain
    if control is not None:
        measured = _NOT_MEASURED
        if gain is not None:
            measured = f"{percent(gain.value, sign=True)} points, 95 % interval {interval(gain, sign=True)}."
        found.append(f"{_of_gain(run.benchmark.report, control)}{measured}")
    return found


_NOT_MEASURED = "not measured."


def _of_gain(spec: ReportSpec, control: Control) -> str:
    """The beginning of the sentence on the gain."""
    return f"{control.gain.capitalize()} ({spec.primary} minus that of the same model {control.without}): "


def dropped(report: Report, before: str) -> str:
    """What a section that takes the place of an earlier one no longer says; empty if it says all of it.

    Args:
        before: the earlier section; empty if there was none.
    """
    spec = report.run.benchmark.report
    if spec.control is None or report.overall.gain is not None:
        return ""
    measured = before.partition(_of_gain(spec, spec.control))[2]
    if not measured or measured.startswith(_NOT_MEASURED):
        return ""
    return f"The {spec.control.gain} that the section had is gone: it belongs to both runs. To keep it, pass --{spec.control.value.replace('_', '-')} RUN."
