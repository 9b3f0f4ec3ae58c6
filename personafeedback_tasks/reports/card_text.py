"""The section of a model card about a run: verdict and numbers, their limits, and how the model was asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template

from ..analysis.balance import COST
from ..analysis.documents import Group, ReportedRun
from ..analysis.sentences import first_sentence, sentence
from ..common import foreign
from ..core.cases import CaseSet
from ..core.report import CardFacts, CardSpec
from ..logs.names import signature_line
from ..logs.run import Run
from ..stats.estimates import Estimate
from .report_text import columns_of, unreadable
from .table import Column, Table, interval, percent, points, spaced, with_interval

MOST_ROWS = 4
"""Rows of the first table of a card. Where there are more cells, it has the groups alone."""

NO_COSTS: Mapping[str, Estimate] = {}

# Markdown: every text of others goes through `foreign`
_TEMPLATE = Template(
    Path(__file__).with_name("card.md.j2").read_text(encoding="utf-8"),
    trim_blocks=True,
    undefined=StrictUndefined,
)


def variant(run: Run) -> str:
    """The options that tell the runs of one card apart; part of a comment's marker."""
    asked = ", ".join(run.remarks) or str(run.signature.options[run.benchmark.options.always()[0]])
    return foreign.comment(f"{run.remark}: {asked}" if run.remark else asked)


def section(
    run: Run,
    report: ReportedRun,
    cases: CaseSet[Any],
    spec: CardSpec,
    signed: Mapping[str, str],
    costs: Mapping[str, Estimate] = NO_COSTS,
) -> str:
    """The Markdown section of a card, by the template `card.md.j2`.

    Args:
        signed: value of the control's option -> signature of the run under it.
    """
    control, groups, every = run.benchmark.report.control, report.rows, report.groups.values()
    if len(groups) > MOST_ROWS:
        groups = [group for group in every if group.name not in run.cells]
    listed = sorted(spec.measures, key=lambda name: name != run.primary)
    measures = [name for name in listed if any(not math.isnan(group.measures[name].value) for group in every)]
    first, rest = spec.caveats(
        CardFacts(
            languages=Counter(case.language for case in cases if case.id in run.cases),
            baselines={name: percent(value.value) for name, value in report.overall.measures.items()},
            prompt=str(run.signature.fingerprint),
            cases=cases,
        )
    )
    known = report.differences(report.overall)
    missing = [name for name in report.controls if name not in known]
    said = [
        *report.labels,
        *([f"Not measured: {', '.join(missing)}."] if missing else []),
        *map(first_sentence, report.caveats),
    ]
    cut = [sentence(caveat) for caveat in report.caveats if sentence(caveat) != first_sentence(caveat)]
    return _TEMPLATE.render(
        heading=foreign.markdown(f"{run.title} ({', '.join(run.remarks)})" if run.remarks else run.title),
        verdict=foreign.markdown(report.verdict),
        cost=foreign.markdown(cost_sentence(costs)),
        measured=spec.measured(foreign.code(run.name), run.signature.options, measures, cases),
        table=_table(report, spec, groups, measures),
        differences=[one for one in control.named if one.name in known] if control else [],
        replies=foreign.markdown(unreadable(report).capitalize()),
        first=[*first, *map(foreign.markdown, said)],
        every_cell=_table(report, spec, report.rows, measures) if len(report.rows) > MOST_ROWS else "",
        baselines="; ".join(f"{name} always picks {what}" for name, what in spec.baselines.items()),
        macro=report.macro,
        rest=[*rest, *map(foreign.markdown, cut)],
        harness=foreign.markdown(run.harness),
        arguments=foreign.code(_arguments(run, signed)),
        signature=foreign.code(signature_line(run, report.audit, public=True)),
        controls={value: foreign.code(line) for value, line in signed.items()},
    )


def cost_sentence(costs: Mapping[str, Estimate]) -> str:
    """A sentence on the costs of knowing the user; empty without any."""
    parts = [
        f"where its memory of the user is wrong, it turns {percent(one.value)} % (95 % interval {interval(one)}) of "
        "the model's right answers"
        if name == COST
        else f"{name} of a user's profile in context: {points(one.value)} points "
        f"(95 % interval {interval(one, sign=True)})"
        for name, one in costs.items()
    ]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _table(report: ReportedRun, spec: CardSpec, groups: Sequence[Group], measures: Sequence[str]) -> str:
    columns: list[Column] = []
    for name in measures:
        columns += with_interval(name, [group.measures[name] for group in groups])
    columns.append(Column("cases", tuple(f"{group.cases:,}" for group in groups)))
    for name in spec.baselines:
        columns.append(Column(f"baseline: {name}", tuple(percent(group.measures[name].value) for group in groups)))
    known = [name.replace(" ", "_") for name in report.differences(report.overall)]
    for measure in report.measures.values():
        if measure.kind == "beside" or measure.key in known:
            columns += columns_of(measure, groups)
    labels = tuple(spaced(group.name) for group in groups)
    (text,) = Table("", labels, tuple(columns), corner="", undefined=True, whole=True).markdown()
    return text


def _arguments(run: Run, controls: Iterable[str]) -> str:
    # the arguments that matter most; the signature has all
    control = run.benchmark.report.control
    named = {"method": run.method.name}
    if control:
        named[control.option] = ",".join((run.setting, *controls))
    named |= {name: str(run.conditions[name]) for name in ("chat template", "few-shot") if name in run.conditions}
    return ", ".join(f"{name}={value}" for name, value in named.items())
