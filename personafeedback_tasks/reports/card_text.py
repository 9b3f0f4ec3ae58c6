"""The section of a model card about a run: verdict and numbers, their limits, and how the model was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template

from ..analysis.balance import COST
from ..analysis.documents import ReportedRun
from ..analysis.sentences import first_sentence, sentence
from ..common import foreign
from ..core.cases import CaseSet
from ..core.report import CardFacts, CardSpec
from ..logs.names import signature_line
from ..logs.run import Run
from ..stats.estimates import Estimate
from .report_text import table_of, unreadable
from .table import interval, percent

MOST_ROWS = 4
"""Rows of the first table of a card. Where there are more cells, it has the groups alone."""

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
    costs: Mapping[str, Estimate],
) -> str:
    """The Markdown section of a card, by the template `card.md.j2`.

    Args:
        signed: value of the control's option -> signature of the run under it.
    """
    control = run.benchmark.report.control
    beside = [key for key, measure in report.measures.items() if measure.kind == "beside"]
    gains = [name.replace(" ", "_") for name in report.controls]
    # each once, the score first; a table is without those that the run lacks
    keys = dict.fromkeys((run.primary, "acc", *spec.baselines, *beside, *gains))
    groups, more = report.rows, len(report.rows) > MOST_ROWS
    if more:
        groups = [group for name, group in report.groups.items() if name not in run.cells]
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
        measured=spec.measured(foreign.code(run.name), run.signature.options, run.primary, cases),
        table=table_of(report, groups, keys).markdown()[0],
        differences=[one for one in control.named if one.name in known] if control else [],
        replies=foreign.markdown(unreadable(report).capitalize()),
        first=[*first, *map(foreign.markdown, said)],
        every_cell=table_of(report, report.rows, keys).markdown()[0] if more else "",
        baselines=spec.baselines,
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
        else f"{name} of a user's profile in context: {percent(one.value, sign=True)} points "
        f"(95 % interval {interval(one, sign=True)})"
        for name, one in costs.items()
    ]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _arguments(run: Run, controls: Iterable[str]) -> str:
    # the arguments that matter most; the signature has all
    control = run.benchmark.report.control
    named = {"method": run.method.name}
    if control:
        named[control.option] = ",".join((run.setting, *controls))
    named |= {name: str(run.conditions[name]) for name in ("chat template", "few-shot") if name in run.conditions}
    return ", ".join(f"{name}={value}" for name, value in named.items())
