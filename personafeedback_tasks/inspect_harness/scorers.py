"""Replies -> scores, for the methods that read labels: from the text of a reply, or from the likeliest tokens at its beginning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from ..common.statistics import mean
from ..engine.benchmark import Benchmark, find
from ..engine.documents import Scorable
from ..engine.evidence import Evidence
from ..engine.method import Method
from ..replies.letter_probabilities import mass
from . import explained
from .calls import events, replies, stage_outcome
from .evidence import given, score_name
from .metrics import VALUES, measures


@cache
def labels(name: str, method_name: str) -> Callable[[], Scorer]:
    """The scorer of a benchmark's method.

    Args:
        name: of the benchmark.
        method_name: one whose answers are labels.
    """
    benchmark = find(name)
    method = benchmark.methods[method_name]

    @scorer(metrics=[measures(name)], name=score_name(benchmark, method))
    def scores() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            asked = replies(state.output, events, method.calls)
            evidence = given(method, asked, f"{state.sample_id}", f"{state.model}")
            outcomes = method.judge(document_of(benchmark, method, state, target), evidence)
            values = [method.tabled(outcome.values, "inspect") for outcome in outcomes]
            answers = [answer for outcome in outcomes for answer in outcome.answers]
            return Score(
                value=cast(Any, over_cases(values)),
                answer=", ".join(answers if method.several is None else _read(benchmark, method, evidence)),
                explanation=explained.answers(benchmark, answers, state),
                reason=next((answer for answer in answers if answer not in benchmark.labels), None),
                metadata={
                    "answers": answers,
                    "targets": list(target),
                    **({} if method.several is None else {VALUES: values}),
                    **_of_tokens(benchmark, method, evidence),
                    **stage_outcome(benchmark.stage, state),
                },
            )

        return score

    return scores


def document_of(benchmark: Benchmark, method: Method, state: TaskState, target: Target) -> Scorable:
    """What is scored in a sample."""
    return benchmark.scorable(method, {**state.metadata, "id": str(state.sample_id), "targets": list(target)})


def over_cases(values: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """The score of a sample: that of its case, or the mean over several."""
    return values[0] if len(values) == 1 else {name: mean(of_case[name] for of_case in values) for name in values[0]}


def _read(benchmark: Benchmark, method: Method, evidence: Sequence[Evidence]) -> list[str]:
    """What each call was read to, before it is split into answers of several cases."""
    return [method.reading(of_call, benchmark.labels)[0] for of_call in evidence]


def _of_tokens(benchmark: Benchmark, method: Method, evidence: Sequence[Evidence]) -> dict[str, Any]:
    """p_letters: call -> the probability of all labels together."""
    if method.read is not None:
        return {}
    read = [method.reading(of_call, benchmark.labels) for of_call in evidence]
    return {"p_letters": {call: mass(values) for call, (_, values) in zip(method.calls, read, strict=True)}}
