"""A report -> the model card: `model-index`, a section, and `.eval_results`. Nothing is uploaded."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import EvalResult
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from ..analysis.balance import COST
from ..analysis.documents import ReportedRun
from ..analysis.sentences import first_sentence, sentence
from ..common import foreign
from ..common.files import write
from ..core.cases import HUB_COMMIT, CaseSet
from ..core.report import DIFFERENCE, CardFacts, CardSpec
from ..logs.caveat import FORBIDS, VOID
from ..logs.run import Run
from ..stats.estimates import Estimate
from .card_file import CardError, CardFile
from .report_text import table_of, unreadable
from .table import interval, percent

EVAL_RESULTS = ".eval_results"

MOST_ROWS = 4
"""Rows of the first table of a card. Where there are more cells, it has the groups alone."""

# keys of caveats on facts that a card needs and a report does not
_UNCHECKED = ("counts_unchecked", "no_data", "prompts_unchecked")

# Markdown: every text is escaped as text of others, unless the template says that it is safe
_ENVIRONMENT = Environment(
    trim_blocks=True, undefined=StrictUndefined,
    finalize=lambda value: value if isinstance(value, Markup) else foreign.markdown(str(value)),
)  # fmt: skip
_ENVIRONMENT.filters["code"] = lambda text: Markup(foreign.code(text))
_ENVIRONMENT.globals.update(
    percent=percent, interval=interval, sentence=sentence, first_sentence=first_sentence, COST=COST, DIFFERENCE=DIFFERENCE,
)  # fmt: skip
_TEMPLATE = _ENVIRONMENT.from_string(Path(__file__).with_name("card.md.j2").read_text(encoding="utf-8"))


def update_card(
    run: Run,
    report: ReportedRun,
    cases: CaseSet[Any] | None,
    card: CardFile,
    costs: Mapping[str, Estimate],
) -> str:
    """Write the numbers of a report into a model card, and return what to tell the user. Repeating it changes nothing.

    Each way of asking has one section and its own `model-index` entries. All other text and metadata stay, but for
    comments among the metadata.

    Args:
        cases: the data of the run; None is refused.
        costs: what knowing the user costs, as `balance.costs_beside` has it.

    Raises:
        CardError: this run should not be published, or the card's metadata or markers are broken.
    """
    spec = refuse_unpublishable(run, report)
    assert cases is not None  # a report without them has the caveat `no_data`
    dataset, _ = data_set_of(run, spec)
    text = section(run, report, cases, spec, costs)
    changed = card.update(results(run, report, spec), text, _variant(run), dataset)
    return (
        f"{card.path}: {'updated' if changed else 'nothing to change'}. Nothing was uploaded. An upload replaces the "
        "model's card on the Hub: begin with that card (hf download OWNER/MODEL README.md --local-dir .)."
    )


def refuse_unpublishable(run: Run, report: ReportedRun) -> CardSpec:
    """The card's texts for the run's benchmark. Raises CardError, with the reasons, for a run unfit for a card."""
    log, spec = run.logs[0], run.benchmark.report.card
    if spec is None:
        raise CardError(f"{log}: found a run of {run.benchmark.title}, which has no model card. Use `report`.")
    reasons = [one for one in report.caveats if one.severity in (VOID, FORBIDS) or one.key in _UNCHECKED]
    if reasons:
        raise CardError(
            f"{log}: found a run that should not be in a model card, expected a whole run on the benchmark's own data. "
            f"{' '.join(map(sentence, reasons))} Finish the run, repeat it without these problems, or use `report`."
        )
    return spec


def _variant(run: Run) -> str:
    # the options that tell the runs of one card apart; part of a comment's marker
    asked = ", ".join(run.remarks) or str(run.signature.options[run.benchmark.options.always()[0]])
    return foreign.comment(f"{run.remark}: {asked}" if run.remark else asked)


def data_set_of(run: Run, spec: CardSpec) -> tuple[str, str | None]:
    """(id on the Hub of the data, their commit where they were read there); for a set elsewhere its name."""
    named, hub = run.named_set, HUB_COMMIT.fullmatch(str(run.signature.source))
    own = hub["id"] if hub else None
    dataset = spec.dataset if named is None else own or foreign.line(named.name)
    return dataset, hub["commit"] if hub and own == dataset else None


# --- the metadata -----------------------------------------------------------------------------------------------------


def results(run: Run, report: ReportedRun, spec: CardSpec) -> list[EvalResult]:
    """One result per group and measure for `model-index`, in percent; the source is left to the card's author."""
    signature = foreign.line(report.signature)
    remarks = f" ({', '.join(run.remarks)})" if run.remarks else ""
    dataset, commit = data_set_of(run, spec)

    scores = dict.fromkeys((run.primary, "acc"))
    found = []
    for group, key in product(report.groups.values(), (*scores, *report.control_of)):
        one = group.measures.get(key)
        if one is None or math.isnan(one.value):
            continue
        args: dict[str, Any] = {"asked": _variant(run), "method": run.method.name, "calls": run.method.per_case}
        if not math.isnan(one.low):
            args |= {"interval_95": [_rounded(one.low), _rounded(one.high)], "stderr": _rounded(one.stderr)}
        args |= {"cases": one.n, "users": one.users}
        kind, name = key, f"{key.replace('_', ' ')} ({run.method.per_case}), points"
        if key in scores:
            kind, name = "accuracy", f"{key} ({run.method.per_case}), %"
            refusals = group.reasons.get("refusal", 0)
            args |= {"refusals": refusals, "unreadable": sum(group.reasons.values()) - refusals}
            args |= {f"baseline_{baseline}": _rounded(group.measures[baseline].value) for baseline in spec.baselines}
        else:
            args["control"] = foreign.line(report.beside[report.control_of[key]])
        found.append(
            EvalResult(
                task_type="multiple-choice",
                task_name="Multiple Choice",
                dataset_type=dataset,
                dataset_name=foreign.line(run.title),
                dataset_config=group.name,
                dataset_split="test",
                dataset_revision=commit,
                metric_type=kind,
                metric_name=foreign.line(f"{name}{remarks}"),
                metric_value=_rounded(one.value),
                metric_args={**args, "signature": signature},
            )
        )
    return found


def _rounded(value: float) -> float:
    return round(100 * value, 2)


def write_eval_results(run: Run, report: ReportedRun, spec: CardSpec, folder: Path) -> Path:
    """Write the run's score in each group, in percent, to `.eval_results/BENCHMARK.yaml`, in place of an earlier one.

    A data set's leaderboard on the Hub shows it once its owners register a benchmark.

    The error and the conditions are in `notes`, the only field for them.

    Args:
        folder: of the model's repository.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml  # which earlier versions lack

    dataset, commit = data_set_of(run, spec)
    entries = []
    for group in report.groups.values():
        score = group.measures[run.primary]
        measured = f"{run.primary}, 95 % {interval(score)} by {score.users:,} users, {score.n:,} cases"
        asked = ", ".join([run.method.name, *run.remarks])
        entries.append(
            EvalResultEntry(
                dataset_id=dataset,
                task_id=run.task if group.name == "total" else f"{run.task}_{group.name}",
                value=_rounded(score.value),
                dataset_revision=commit,
                date=run.date,
                notes=f"{measured}; {asked}; {report.short_signature}",
            )
        )
    path = folder / EVAL_RESULTS / f"{run.benchmark.name}.yaml"
    write(path, yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True))
    return path


# --- the section ------------------------------------------------------------------------------------------------------


def section(
    run: Run,
    report: ReportedRun,
    cases: CaseSet[Any],
    spec: CardSpec,
    costs: Mapping[str, Estimate],
) -> str:
    """The Markdown section of a card, by the template `card.md.j2`: verdict and numbers, their limits, how it was asked."""
    control = run.benchmark.report.control
    beside = [key for key, measure in report.measures.items() if measure.kind == "beside"]
    # each once, the score first; a table is without those that the run lacks
    keys = dict.fromkeys((run.primary, "acc", *spec.baselines, *beside, *report.control_of))
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
    # the arguments that matter most; the signature has all
    asked = {"method": run.method.name}
    if control:
        asked[control.option] = ",".join((run.setting, *report.beside))
    asked |= {name: str(run.conditions[name]) for name in ("chat template", "few-shot") if name in run.conditions}
    return _TEMPLATE.render(
        run=run,
        report=report,
        spec=spec,
        control=control,
        costs=costs,
        measured=spec.measured(foreign.code(run.name), run.signature.options, run.primary, cases),
        table=table_of(report, groups, keys).markdown()[0],
        every_cell=table_of(report, report.rows, keys).markdown()[0] if more else "",
        known=known,
        missing=[name for name in report.controls if name not in known],
        replies=unreadable(report),
        first=first,
        rest=rest,
        arguments=", ".join(f"{name}={value}" for name, value in asked.items()),
    )
