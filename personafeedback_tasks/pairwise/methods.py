"""How a model's choice is read: the methods of every benchmark of this kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import Any

from ..core.evidence import LogLikelihoods
from ..core.method import LabelMethod, LikelihoodMethod, Method, Metric, RewardMethod, TopTokenMethod
from ..core.result import Answers
from ..core.rewards import Message
from ..parsing.answers import IMPOSSIBLE
from ..parsing.letter_probabilities import top_reader
from ..parsing.letters import readers
from .orders import Orders
from .scoring import metrics, p_chosen, score_answers, score_symmetric

DEBIASED = "acc_sym"
"""The score of the methods that know log-odds, `scoring.score_symmetric`. Rewards have no place to debias."""

_NUMBERS = {2: "two", 3: "three", 4: "four"}


def methods(orders: Orders, conversation: Callable[[Any, Any, str], list[Message]]) -> dict[str, Method]:
    """Name -> method. All ask for a letter but `cot`, which reasons first, and `reward`."""

    def score(targets: Sequence[str], answers: Answers, values: Sequence[LogLikelihoods]) -> dict[str, float]:
        return score_answers(answers, orders)

    def score_likelihoods(
        targets: Sequence[str], answers: Answers, values: Sequence[LogLikelihoods]
    ) -> dict[str, float]:
        both = {DEBIASED: score_symmetric(values, orders), "p_chosen": p_chosen(values, orders)}
        found = {**score_answers(answers, orders), **both}
        if any(answer in IMPOSSIBLE for answer in answers):
            return {**dict.fromkeys(found, nan), "invalid": found["invalid"]}
        return found

    read_reply, read_last_line = readers(orders.letters)
    case_metrics = metrics(orders)
    # Averaging hard picks over the orders removes no position bias: a model that always picks the first response has an
    # acc of 1 / n whatever it knows. Averaging log-odds does, so their score is acc_sym.
    symmetric = (Metric(DEBIASED), *case_metrics)
    in_all_orders: dict[str, Any] = {"calls": orders.names, "per_case": orders.all_names}
    every: list[Method] = [
        LabelMethod(
            name="generate", help="the letter in the reply", **in_all_orders, score=score, metrics=case_metrics,
            max_tokens=1024, read=read_reply,
        ),
        LabelMethod(
            name="cot", help="the same in the last line, after reasons, 4,096 tokens", **in_all_orders, score=score,
            metrics=case_metrics, suffix="cot", max_tokens=4096, read=read_last_line,
        ),
        LikelihoodMethod(
            name="mc", help=f"log-likelihoods of the {_NUMBERS[len(orders.letters)]} letters", **in_all_orders,
            labels=orders.letters, score=score_likelihoods,
            metrics=(*symmetric, Metric("p_chosen", defined=False, harnesses=())),
            suffix="mc", primary=DEBIASED,
        ),
        TopTokenMethod(
            name="logprobs", help="probabilities of the letters among the top ones (OpenAI, vLLM, local)",
            **in_all_orders, labels=orders.letters, score=score_likelihoods,
            metrics=(*symmetric, Metric("p_chosen", defined=False)), suffix="logprobs", primary=DEBIASED,
            read_tokens=top_reader(orders.letters),
        ),
        RewardMethod(
            name="reward", help="a reward model's score of each response", calls=orders.sides,
            per_case=orders.all_sides,
            metrics=(Metric("acc"), Metric("acc_half"), Metric("tie", higher_is_better=None)),
            suffix="reward", conversation=conversation,
        ),
    ]  # fmt: skip
    return {method.name: method for method in every}
