"""Baselines that answer like a model, scored like one; and people, each against the others.

A baseline with an answer to every case has every measure of a run, with errors over users. So does one person whose
answers are compared with those of most others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..common.statistics import Estimate
from ..core.documents import Scorable, ScorableCase
from ..core.method import LabelMethod
from ..core.report import PRECISION, RECALL, Examined, HumanAgreement
from ..core.result import Answers, Result, ScoredCase
from ..logs.run import Run
from .groups import measures_of


@dataclass(frozen=True)
class Beside:
    """Baselines and people beside a run, over all its cases."""

    # name -> measure -> value on the cases of the run
    baselines: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    # measure -> value of one person against the others, over all rows of the data; empty without votes
    people: Mapping[str, Estimate] = field(default_factory=dict)
    agreement: HumanAgreement | None = None  # among people, where the data have it
    notes: Sequence[str] = ()  # of the record, on the baselines


def with_scores(run: Run, texts: Examined) -> Examined:
    """A copy of the texts whose baselines include the scores of those that answer."""
    found = {case_id: dict(values) for case_id, values in texts.baselines.items()}
    for name, cases in answered(run, texts).items():
        for case in cases:
            found.setdefault(case.case_id, {})[name] = case.value(run.primary)
    return replace(texts, baselines=found)


def answered(run: Run, texts: Examined) -> dict[str, list[ScoredCase]]:
    """Name of a baseline -> its answers to each case of the run; empty for a method that reads no answers."""
    method = run.method
    if not isinstance(method, LabelMethod):
        return {}
    return {
        name: [_with(run, method, case[0], said[case_id]) for case_id, case in run.cases.items()]
        for name, said in texts.said.items()
    }


def make_beside(run: Run, texts: Examined) -> Beside:
    spec = run.benchmark.report
    wanted = [shown.measure for shown in spec.compared]
    wanted += [name for name in (PRECISION, RECALL) if name in run.benchmark.corpus]
    baselines = {
        name: measures_of(run.benchmark, cases, only=wanted, also=texts.shared([case.case_id for case in cases]))
        for name, cases in answered(run, texts).items()
    }
    return Beside(baselines, _people(run, texts.agreement, wanted), texts.agreement, tuple(texts.said_notes))


def _people(run: Run, agreement: HumanAgreement | None, wanted: Sequence[str]) -> dict[str, Estimate]:
    # Every judgment counts as one case. Rows must not: of votes like yes, yes, no only the last person has others who
    # agree, so such a row would count as wrong, and random answers would be right in a quarter of the rows of three
    # votes.
    method = run.method
    if agreement is None or not agreement.against_rest or not isinstance(method, LabelMethod):
        return {}
    cell = run.benchmark.cells[0]  # these measures are over all
    cases = [
        _with(run, method, replace(judgment, case_id=str(number), cell=cell, user_id=user), judgment.answers)
        for number, (user, judgment) in enumerate(agreement.against_rest)
    ]
    return measures_of(run.benchmark, cases, only=wanted)


def _with(run: Run, method: LabelMethod, asked: Result, answers: Answers) -> ScoredCase:
    case = ScorableCase(asked.case_id, asked.digest, tuple(asked.targets))
    document = Scorable(asked.cell, asked.user_id, run.benchmark.labels, (case,), (asked.setting,))
    return ScoredCase(method.score_answers(document, answers))
