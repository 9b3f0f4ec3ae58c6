"""The text of a model card about a run: what was measured, the caveats, how it was asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.groups import Group
from ..analysis.report import Report
from ..analysis.sheet import difference
from ..common import foreign
from ..engine.cases import CaseSet
from ..engine.report import CardFacts, CardSpec
from ..runs.run import Run
from ..runs.signature_line import model_of, signature_line
from .headline import ceilings, verdict
from .report_text import gap_columns, sheet_notes
from .sentences import first_sentence, sentence
from .table import Column, Table, interval, percent, spaced, with_interval

PACKAGE = "personafeedback-tasks"
_NOT_MEASURED = "not measured."
MOST_ROWS = 4
"""Rows of the first table of a card."""

_MACRO = " `macro` is the plain mean of the cells."


def variant(run: Run) -> str:
    """The key that tells apart the runs in one card. It is part of a comment's marker."""
    asked = ", ".join(run.remarks) or str(run.signature[run.benchmark.options.always()[0]])
    return foreign.comment(f"{run.remark}: {asked}" if run.remark else asked)


def unreadable(group: Group) -> dict[str, int]:
    """Reason -> unreadable replies. A refusal is model behavior, not a fault of the setup."""
    return {reason: count for reason, count in group.reasons.items() if reason != "refusal"}


def counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in reasons.items())


def signature_of(report: Report) -> str:
    """The signature of the numbers, without the folders of this machine."""
    return signature_line(report.run, report.texts.version, public=True)


def section(report: Report, cases: CaseSet[Any], spec: CardSpec) -> str:
    """The Markdown section of a card: the verdict, what was measured, the numbers, their caveats; the rest folded away."""
    run = report.run
    heading = f"{run.title} ({', '.join(run.remarks)})" if run.remarks else run.title
    listed = sorted(spec.measures, key=lambda name: name != run.primary)
    measures = [name for name in listed if any(not math.isnan(group.measures[name].value) for group in report.groups)]
    cut = [sentence(caveat) for caveat in report.caveats if sentence(caveat) != first_sentence(caveat)]
    first, rest = spec.caveats(_facts(report, cases, spec))
    parts = [
        f"## {foreign.markdown(heading)}",
        foreign.markdown(verdict(report)),
        spec.measured(foreign.code(model_of(run)), run.signature, measures, cases),
        *_main_table(report, spec, measures).markdown(),
        f"Percent; 95 % intervals clustered by user.{_meanings(report)} {_replies(report)}".rstrip(),
        "What these numbers do not show:",
        bulleted(
            [
                *first,
                *([] if report.overall.gain else _gain(report)),
                *(foreign.markdown(first_sentence(caveat)) for caveat in report.caveats),
            ]
        ),
        "<details>\n<summary>Every number, more on the data, and how the model was asked</summary>",
        *_details(
            report,
            spec,
            measures,
            [*rest, *(_gain(report) if report.overall.gain else []), *map(foreign.markdown, cut)],
        ),
        "</details>",
    ]
    return "\n\n".join(part for part in parts if part)


def bulleted(texts: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _details(report: Report, spec: CardSpec, measures: Sequence[str], caveats: Sequence[str]) -> list[str]:
    """What a card folds away: every number, the other caveats, the harness's arguments, the signatures."""
    controls = "".join(
        f"  \nControl {value}: {foreign.code(signature_line(control, public=True))}"
        for value, control in report.controls.items()
    )
    baselines = "; ".join(f"{name} always picks {what}" for name, what in spec.baselines.items())
    sheet = report.sheet if report.sheet and report.sheet.named else None
    return [
        *_table(report, spec, measures).markdown(),
        f"Baselines on the same cases: {baselines}.{_MACRO if report.macro else ''}",
        *([foreign.markdown(" ".join(sheet_notes(sheet)))] if sheet else []),
        bulleted(caveats),
        _arguments(report),
        f"Signature: {foreign.code(signature_of(report))}{controls}",
    ]


def _arguments(report: Report) -> str:
    """The arguments of the harness that matter most, in one line; the signature has all."""
    run, control = report.run, report.run.benchmark.report.control
    named = {"method": run.method.name}
    if control is not None:
        runs = (run, *report.controls.values())
        named[control.option] = ",".join(str(one.signature[control.option]) for one in runs)
    named |= {name: str(run.conditions[name]) for name in ("chat template", "few-shot") if name in run.conditions}
    arguments = ", ".join(f"{name}={value}" for name, value in named.items())
    return f"Asked in {foreign.markdown(run.harness)} with {foreign.code(arguments)}."


def _main_table(report: Report, spec: CardSpec, measures: Sequence[str]) -> Table:
    """The score beside its baselines, and what the persona is worth; of many cells the groups alone."""
    groups = report.shown
    if len(groups) > MOST_ROWS:
        groups = tuple(group for group in report.groups if group.name not in report.run.cells)
    columns = with_interval(measures[0], [group.measures[measures[0]] for group in groups])
    columns.append(Column("cases", tuple(f"{group.cases:,}" for group in groups)))
    columns += _baselines(groups, spec)
    return _whole([group.name for group in groups], [*columns, *gap_columns(report, groups)])


def _table(report: Report, spec: CardSpec, measures: Sequence[str]) -> Table:
    """Every number of every cell."""
    groups = report.shown
    columns: list[Column] = []
    for name in measures:
        columns += with_interval(name, [group.measures[name] for group in groups])
    columns.append(Column("cases", tuple(f"{group.cases:,}" for group in groups)))
    columns.append(Column("users", tuple(f"{group.measures[measures[0]].users:,}" for group in groups)))
    columns += [*_baselines(groups, spec), *gap_columns(report, groups)]
    if report.sheet is not None:
        for named in report.sheet.named.values():
            if named.name not in report.named_controls:
                found = [report.sheet.named_in(group.name).get(named.name) for group in groups]
                columns += with_interval(named.name, found, sign=True, strong=False)
    return _whole([group.name for group in groups], columns)


def _baselines(groups: Sequence[Group], spec: CardSpec) -> list[Column]:
    return [
        Column(f"baseline: {name}", tuple(percent(group.baselines[name].value) for group in groups))
        for name in spec.baselines
    ]


def _whole(names: Sequence[str], columns: Sequence[Column]) -> Table:
    """One table for all columns, however wide: a page wraps it."""
    return Table("", tuple(map(spaced, names)), tuple(columns), corner="", undefined=True, whole=True)


def _meanings(report: Report) -> str:
    """What the differences of the table are, in points."""
    control, there = report.run.benchmark.report.control, report.differences(report.overall.name)
    named = [one for one in control.named if one.more == report.run.signature[control.option]] if control else []
    return "".join(
        f" {one.name.capitalize()} ({difference(one.more, one.less)}): {one.meaning}."
        for one in named
        if one.name in there
    )


def _replies(report: Report) -> str:
    """How many replies could not be read."""
    overall = report.overall
    if report.run.method.evidence == "rewards":
        return ""
    if not overall.reasons:
        return f"All {overall.replies:,} replies could be read."
    reasons, refusals = unreadable(overall), overall.reasons.get("refusal", 0)
    others = f"{sum(reasons.values()):,} otherwise unreadable" + (f" ({counted(reasons)})" if reasons else "")
    return f"Of {overall.replies:,} replies {refusals:,} were refusals and {foreign.markdown(others)}."


def _facts(report: Report, cases: CaseSet[Any], spec: CardSpec) -> CardFacts:
    """The figures of this run that the benchmark's caveats mention."""
    return CardFacts(
        languages=Counter(case.language for case in cases if case.id in report.run.cases),
        ceilings=[f"{name} {value} %" for name, value in ceilings(report).items()],
        label_note=report.texts.label_note,
        baselines={name: percent(baseline.value) for name, baseline in report.overall.baselines.items()},
        prompt=str(report.run.signature["fingerprint"]),
        cases=cases,
        package=PACKAGE,
    )


def _gain(report: Report) -> list[str]:
    """The gain over the control, in a sentence."""
    lead, gain = _lead_of_gain(report.run), report.overall.gain
    measured = _NOT_MEASURED
    if gain is not None:
        known = "without an interval" if math.isnan(gain.low) else f"95 % interval {interval(gain, sign=True)}"
        measured = f"{percent(gain.value, sign=True)} points, {known}."
    return [f"{lead}{measured}"] if lead else []


def _lead_of_gain(run: Run) -> str:
    """The beginning of the sentence on the gain; empty for a benchmark without a control."""
    spec = run.benchmark.report
    if spec.control is None:
        return ""
    return f"{spec.control.gain.capitalize()} ({run.primary} minus that of the same model {spec.control.without}): "


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
