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
from .metrics import ITEMS, VALUES, measures


@cache
def labels(name: str, method_name: str) -> Callable[[], Scorer]:
    """The scorer of a benchmark's method."""
    benchmark = find(name)
    method = benchmark.methods[method_name]

    @scorer(metrics=[measures(name)], name=score_name(benchmark, method))
    def scores() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            document = document_of(benchmark, method, state, target)
            asked = replies(state.output, events, method.asked(document.settings))
            evidence = given(method, asked, f"{state.sample_id}", f"{state.model}")
            outcomes = method.judge(document, evidence)
            values = benchmark.tabled(method, outcomes, "inspect")
            answers = [answer for outcome in outcomes for answer in outcome.answers]
            return Score(
                value=cast(Any, over_cases(values)),
                answer=", ".join(answers if method.several is None else _read(benchmark, method, evidence)),
                explanation=explained.answers(benchmark, outcomes, state),
                reason=next((answer for answer in answers if answer not in benchmark.labels), None),
                metadata={
                    "answers": answers,
                    "targets": list(target),
                    **({} if method.several is None else {VALUES: values}),
                    **({ITEMS: list(outcomes[0].items)} if method.described and method.described.items else {}),
                    **_of_tokens(benchmark, method, dict(zip(asked, evidence, strict=True))),
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


def _of_tokens(benchmark: Benchmark, method: Method, evidence: Mapping[str, Evidence]) -> dict[str, Any]:
    """p_letters: call -> the probability of all labels together."""
    if method.read is not None:
        return {}
    return {"p_letters": {call: mass(method.reading(given, benchmark.labels)[1]) for call, given in evidence.items()}}
