"""Baselines that answer like a model, scored like one: each has every measure of a run, with errors over users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..core.method import LabelMethod
from ..core.report import Examined
from ..core.result import Result
from ..logs.run import Run
from ..stats.estimates import Estimate
from .groups import measure_of


@dataclass(frozen=True)
class Judges:
    """Baselines that answer like a model, over all cases of a run, and people.

    Attributes:
        baselines: baseline -> measure -> value.
        agreement: coefficient -> how far people agree; empty without votes.
        note: whose agreement it is.
    """

    baselines: Mapping[str, Mapping[str, Estimate]]
    agreement: Mapping[str, Estimate]
    note: str


def with_scores(run: Run, texts: Examined) -> Examined:
    """A copy of the texts whose baselines include the scores of those that answer."""
    found = {case_id: dict(values) for case_id, values in texts.baselines.items()}
    for name, cases in answered(run, texts).items():
        for case in cases:
            found.setdefault(case.case_id, {})[name] = case.value(run.primary)
    return replace(texts, baselines=found)


def answered(run: Run, texts: Examined) -> dict[str, list[Result]]:
    """Name of a baseline -> its answers to each case of the run; empty for a method that reads no answers."""
    method = run.method
    if not isinstance(method, LabelMethod):
        return {}
    return {
        name: [method.scored(replace(case, unread=()), said[case_id]) for case_id, case in run.cases.items()]
        for name, said in texts.said.items()
    }


def make_judges(run: Run, texts: Examined) -> Judges:
    baselines = {}
    for name, cases in answered(run, texts).items():
        also = texts.shared([case.case_id for case in cases])
        wanted = [line.key for line in run.benchmark.report.compared]
        epochs = [[case] for case in cases]
        baselines[name] = {key: measure_of(key, run.benchmark, cases, epochs, also=also) for key in wanted}
    people = texts.agreement
    return Judges(baselines, people.coefficients if people else {}, people.note if people else "")
