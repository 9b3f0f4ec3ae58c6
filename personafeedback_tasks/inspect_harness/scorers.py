"""Replies -> scores, for the methods that read labels: from the text of a reply, or from the likeliest tokens at its beginning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from inspect_ai.model import ChatCompletionChoice
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from ..common.statistics import mean
from ..engine.benchmark import Benchmark, Method, find
from ..engine.judged import Answers, LogLikelihoods
from ..engine.judges import answer_in
from ..replies.letter_probabilities import mass
from . import explained
from .calls import events, replies, said, stage_outcome
from .logprobs import read_first_token
from .metrics import VALUES, measures


@dataclass(frozen=True)
class Reading:
    """The reading of one call's reply: an answer and, from tokens, the log-probability of each label (nats)."""

    answer: str
    log_likelihoods: LogLikelihoods | None = None


def name_of(benchmark: Benchmark, method: Method) -> str:
    """The scorer's name. A method has one of its own: a log that is scored again tells the scorer no method."""
    return benchmark.task("", method.suffix)


@cache
def labels(name: str, method_name: str) -> Callable[[], Scorer]:
    """The scorer of a benchmark's method.

    Args:
        name: of the benchmark.
        method_name: one whose answers are labels.
    """
    benchmark = find(name)
    method = benchmark.methods[method_name]

    @scorer(metrics=[measures(name)], name=name_of(benchmark, method))
    def scores() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            found = replies(state.output, events, method.calls)
            read = [
                reading(benchmark, method, reply, f"{state.sample_id}", f"{state.model}") for reply in found.values()
            ]
            targets = method.of_each(list(target))
            of_each = method.answers([one.answer for one in read], len(targets))
            found_values = values(benchmark, method, targets, of_each, read, found.values(), state.metadata)
            tabled = [method.tabled(of_case, "inspect") for of_case in found_values]
            answers = [answer for of_case in of_each for answer in of_case]
            return Score(
                value=cast(Any, over_cases(tabled)),
                answer=", ".join(one.answer for one in read),
                explanation=explained.answers(benchmark, answers, state),
                reason=next((answer for answer in answers if answer not in benchmark.labels), None),
                metadata={
                    "answers": answers,
                    "targets": list(target),
                    **({} if method.several is None else {VALUES: tabled}),
                    **_of_tokens(method, read),
                    **stage_outcome(benchmark.stage, state),
                },
            )

        return score

    return scores


def reading(benchmark: Benchmark, method: Method, reply: ChatCompletionChoice, case_id: str, model: str) -> Reading:
    """The reply of one call, read as the method reads it.

    Raises:
        OptionError: the method compares log-probabilities and the model returned none.
    """
    if method.read is None:
        return Reading(*read_first_token(reply, benchmark, method, case_id, model))
    return Reading(answer_in(said(reply), method.read))


def values(
    benchmark: Benchmark,
    method: Method,
    targets: Sequence[Sequence[str]],
    answers: Sequence[Answers],
    read: Sequence[Reading],
    replies: Iterable[ChatCompletionChoice],
    logged: Mapping[str, Any],
) -> list[dict[str, float]]:
    """Metric -> value, of each case of a sample. See `Method.values`."""
    undefined = (math.nan,) * len(benchmark.labels)
    pairs = [] if method.read is not None else [one.log_likelihoods or undefined for one in read]
    return method.values(targets, answers, pairs, [said(reply) for reply in replies], logged)


def over_cases(values: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """The score of a sample: that of its case, or the mean over several."""
    return values[0] if len(values) == 1 else {name: mean(of_case[name] for of_case in values) for name in values[0]}


def _of_tokens(method: Method, read: Sequence[Reading]) -> dict[str, Any]:
    """p_letters: call -> the probability of all labels together."""
    if method.read is not None:
        return {}
    return {"p_letters": {call: mass(one.log_likelihoods or ()) for call, one in zip(method.calls, read, strict=True)}}
