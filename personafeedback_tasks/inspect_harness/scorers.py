"""Replies -> scores, for the methods that read labels: from the text of a reply, or from the likeliest tokens at its beginning."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from inspect_ai.model import ChatCompletionChoice
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from ..engine.benchmark import Benchmark, Method, find
from ..engine.judged import LogLikelihoods
from ..engine.judges import answer_in
from ..replies.letter_probabilities import mass
from . import explained
from .calls import events, replies, said, stage_outcome
from .logprobs import read_first_token
from .metrics import measures


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
            answers, targets = tuple(one.answer for one in read), list(target)
            return Score(
                value=cast(Any, values(benchmark, method, targets, read)),
                answer=", ".join(answers),
                explanation=explained.answers(benchmark, answers, state),
                reason=next((answer for answer in answers if answer not in benchmark.labels), None),
                metadata={
                    "answers": list(answers),
                    "targets": targets,
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
    return Reading(answer_in(said(reply), method.read, benchmark.labels))


def values(benchmark: Benchmark, method: Method, targets: Sequence[str], read: Sequence[Reading]) -> dict[str, float]:
    """Metric -> value of one case.

    Raises:
        ValueError: the number of readings is not the number of calls.
    """
    assert method.score is not None  # of labels
    undefined = (math.nan,) * len(benchmark.labels)
    pairs = [] if method.read is not None else [one.log_likelihoods or undefined for one in read]
    return method.score(targets, tuple(one.answer for one in read), pairs)


def _of_tokens(method: Method, read: Sequence[Reading]) -> dict[str, Any]:
    """p_letters: call -> the probability of all labels together."""
    if method.read is not None:
        return {}
    return {"p_letters": {call: mass(one.log_likelihoods or ()) for call, one in zip(method.calls, read, strict=True)}}
