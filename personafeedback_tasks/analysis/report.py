"""A run -> its report: every number with its uncertainty, its baselines and its caveats."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from ..core.cases import CaseSet
from ..core.report import Examined, key_of
from ..core.result import Result
from ..core.usage import ELSEWHERE, Prices, total
from ..logs.data import RunData
from ..logs.names import signature_line
from ..logs.run import Run
from ..stats.estimates import percent
from .caveats import of_result
from .contender import Contender, answered, groups_of, has_macro, with_scores
from .documents import CostOfCalls, Group, Judges, ReportDocument, ReportedRun, Unread, fields_of
from .measures import Measure, every, own
from .persona_use import use_of
from .sentences import verdict
from .users import make_users
from .void import is_void

TOTAL = "total"
"""Name of the last row of costs, all others together."""


def make_report(
    run: Run,
    cases: CaseSet[Any] | None,
    controls: Mapping[str, Run] | None = None,
    no_data: str = "No data were loaded.",
    texts: Examined | None = None,
    prices: Prices | None = None,
) -> ReportedRun:
    """The report of one run.

    Args:
        cases: all cases of the available data, other cells included, in which repeats are searched.
            None leaves out what needs the texts.
        controls: value of the control's option -> the same model's run under it, as `with_controls` has them.
        texts: result of `ReportSpec.examine`, if it is known.
    """
    spec = run.benchmark.report
    if cases is not None and spec.examine is not None:
        texts = texts or spec.examine(cases, run.cases.keys())
    texts = with_scores(run, texts) if texts else None
    controls = controls or {}
    whole = Contender(run, controls, texts=texts)
    listed = every(whole)
    groups = _groups(whole, listed)
    macro = groups.pop() if has_macro(run) else None
    overall = groups[-1].measures
    caveats = of_result(whole, cases, no_data, overall[run.primary])
    use = use_of(run, overall, controls)
    judges = make_judges(run, texts) if texts and spec.compared else None
    about, signed = texts or Examined(), run.signature
    fields = fields_of(run, controls, use, about.version)
    named, void = fields["controls"], fields["void"]
    ceiling = _ceiling(run, about, groups)
    of_groups = ", ".join(f"{name} {percent(value)}" for name, value in ceiling.items())
    return ReportedRun(
        **fields,
        title=run.title,
        chance=spec.chance,
        short_signature=" | ".join(
            (f"task {signed.task_version}", run.harness, f"prompt {signed.fingerprint}", f"data {signed.data}")
        ),
        audit=about.version,
        beside={value: signature_line(control) for value, control in controls.items()},
        advice=_advice(run, [value for name, value in named.items() if key_of(name) not in overall]),
        cells=run.cells,
        partial=run.partial,
        left_out=run.left_out,
        demonstration=run.signature.demonstration,
        set=run.named_set.name if run.named_set else None,
        verdict=verdict(run, overall, use, judges),
        caveats=caveats,
        unread=examples(run.results),
        ceiling=ceiling,
        labels=[*([about.ceiling_note.format(of_groups)] if ceiling else []), *filter(None, [about.label_note])],
        measures={one.key: one for one in listed if any(one.key in group.measures for group in groups)},
        groups={group.name: group for group in groups},
        macro=macro,
        judges=judges,
        users=None
        if void
        else make_users(whole.scores, whole.clusters.users[0], [run.cases[name].cell for name in whole.ids]),
        costs=costs(run, controls, prices),
    )


def _groups(whole: Contender, measures: Sequence[Measure]) -> list[Group]:
    # of every cell and group of cells, and of all of them with the same weight
    run = whole.run
    named = groups_of(run, run.cells)
    parts = [replace(whole, part=places) for _, _, places in named]
    if has_macro(run):
        named.append(("macro", named[-1][1], ()))
        parts.append(replace(parts[-1], plain=True))
    values = {measure.key: measure.in_parts(whole, parts) for measure in measures}
    groups = []
    for place, ((name, cells, _), part) in enumerate(zip(named, parts, strict=True)):
        answers = [answer for result in part.results for answer in result.answers]
        reasons = Counter(answer for answer in answers if answer not in run.benchmark.labels)
        group = Group(
            name=name,
            cases=len(part.ids),
            of=sum(run.cells[cell] for cell in cells),
            users=part.clusters.count,
            replies=len(answers),
            reasons=dict(sorted(reasons.items())),
            measures={key: value for key, of in values.items() if (value := of[place]) is not None},
        )
        groups.append(group)
    return groups


def make_judges(run: Run, texts: Examined) -> Judges:
    baselines = {}
    for name, cases in answered(run, texts).items():
        one = Contender(replace(run, results=cases), texts=texts)
        compared = [own(line, run) for line in run.benchmark.report.compared]
        baselines[name] = {measure.key: value for measure in compared if (value := measure.in_parts(one, [one])[0])}
    people = texts.agreement
    return Judges(baselines, people.coefficients if people else {}, people.note if people else "")


def _advice(run: Run, missing: Sequence[str]) -> str:
    # none where the run itself must be repeated, or no harness made it
    control = run.benchmark.report.control
    if not missing or is_void(run) or not run.harness.startswith(("lm-eval", "inspect")):
        return ""
    settings = ",".join(missing)
    option = f"-T {control.option}={settings}"
    if run.harness.startswith("lm-eval"):
        option = f"--metadata '{json.dumps({control.option: settings})}'"
    return f"To add {' and '.join(missing)}, repeat the run with {option}."


def _ceiling(run: Run, texts: Examined, groups: Iterable[Group]) -> dict[str, float]:
    # of the run's groups, also those that it has in part, where labels allow less than all
    held = {group.name for group in groups}
    columns = run.benchmark.columns(run.benchmark.cells)
    held |= {name for name, cells in columns.items() if name != "total" and set(cells) & set(run.cells)}
    return {name: value for name, value in texts.ceiling.items() if name in held and percent(value) != "100.0"}


def examples(results: Iterable[Result]) -> list[Unread]:
    """Five unreadable replies: the first of each reason, then the second ones, ..."""
    found: dict[str, list[Unread]] = {}
    for result in sorted(results, key=lambda result: result.case_id):
        for reason, said in result.unread:
            found.setdefault(reason, []).append(Unread(case=result.case_id, reason=reason, reply=said))
    turns = zip_longest(*(found[reason] for reason in sorted(found)))
    return [one for turn in turns for one in turn if one][:5]


def costs(run: Run, controls: Mapping[str, Run], prices: Prices | None = None) -> tuple[CostOfCalls, ...]:
    """Costs of the run, of each control, and of all together; empty where not even the calls were counted.

    Args:
        controls: value of the control's option -> the run under it.
    """
    asked = [
        (name, one.usage, len(one.results))
        for name, one in {run.setting or "the run": run, **controls}.items()
        if not math.isnan(one.usage.calls) or one.usage.counted
    ]
    asked += [(ELSEWHERE, one.elsewhere, 0) for one in (run, *controls.values()) if one.elsewhere.tokens]
    dollars = [prices.of(usage) if prices else math.nan for _, usage, _ in asked]
    if len(asked) > 1:
        known = [price for price in dollars if not math.isnan(price)]
        asked.append((TOTAL, total(usage for _, usage, _ in asked), 0))
        dollars.append(math.fsum(known) if known else math.nan)
    rows = []
    for (name, of, answers), price in zip(asked, dollars, strict=True):
        rows.append(CostOfCalls(name, of.calls, of.input, of.cached, of.output, of.reasoning, answers, price))
    return tuple(rows)


def report_document(
    rows: Sequence[tuple[Run, Mapping[str, Run]]], data: RunData, prices: Prices | None = None
) -> ReportDocument:
    """The document of `report`, of runs with their controls, on the data that there are."""
    reports = []
    for run, controls in rows:
        cases, why_not = data.of(run)
        reports.append(make_report(run, cases, controls, why_not, data.texts(run), prices))
    return ReportDocument(reports=reports)
