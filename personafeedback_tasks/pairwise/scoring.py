"""The methods of every choice between responses, and answers -> the scores of a case.

A value with an empty denominator is nan, never 0, and is left out of means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

from ..core.method import LabelMethod, LikelihoodMethod, LogLikelihoods, Method, Metric, RewardMethod, TopTokenMethod
from ..parsing.answers import IMPOSSIBLE
from ..parsing.letter_probabilities import top_reader
from ..parsing.letters import readers
from .orders import TWO, Orders

DEBIASED = "acc_sym"
"""The score of the methods that know log-odds, see `score_symmetric`. Rewards have no place to debias."""

_NUMBERS = {2: "two", 3: "three", 4: "four"}


def methods(orders: Orders) -> dict[str, Method]:
    """Name -> method. All ask for a letter but `cot`, which reasons first, and `reward`."""
    of_answers = partial(score_answers, orders=orders)
    of_likelihoods = partial(score_likelihoods, orders=orders)
    read_reply, read_last_line = readers(orders.letters)
    case_metrics = metrics(orders)
    # Averaging hard picks over the orders removes no position bias: a model that always picks the first response has an
    # acc of 1 / n whatever it knows. Averaging log-odds does, so their score is acc_sym.
    symmetric = (Metric(DEBIASED), *case_metrics)
    in_all_orders: dict[str, Any] = {"calls": orders.names, "per_case": orders.all_names}
    every: list[Method] = [
        LabelMethod(
            name="generate", help="the letter in the reply", **in_all_orders, score=of_answers, metrics=case_metrics,
            max_tokens=1024, read=read_reply,
        ),
        LabelMethod(
            name="cot", help="the same in the last line, after reasons, 4,096 tokens", **in_all_orders,
            score=of_answers, metrics=case_metrics, suffix="cot", max_tokens=4096, read=read_last_line,
        ),
        LikelihoodMethod(
            name="mc", help=f"log-likelihoods of the {_NUMBERS[len(orders.letters)]} letters", **in_all_orders,
            labels=orders.letters, score=of_likelihoods,
            metrics=(*symmetric, Metric("p_chosen", defined=False, harnesses=())),
            suffix="mc", primary=DEBIASED,
        ),
        TopTokenMethod(
            name="logprobs", help="probabilities of the letters among the top ones (OpenAI, vLLM, local)",
            **in_all_orders, labels=orders.letters, score=of_likelihoods,
            metrics=(*symmetric, Metric("p_chosen", defined=False)), suffix="logprobs", primary=DEBIASED,
            read_tokens=top_reader(orders.letters),
        ),
        RewardMethod(
            name="reward", help="a reward model's score of each response", calls=orders.sides,
            per_case=orders.all_sides,
            metrics=(Metric("acc"), Metric("acc_half"), Metric("tie", higher_is_better=None)),
            suffix="reward",
        ),
    ]  # fmt: skip
    return {method.name: method for method in every}


def metrics(orders: Orders) -> tuple[Metric, ...]:
    """The values of `score_answers`, and which tables have them."""
    return (
        Metric("acc"),
        Metric(orders.all_right),
        Metric("invalid", higher_is_better=False),
        Metric("consistency", defined=False),
        *(Metric(rate, higher_is_better=None, defined=False) for rate in orders.rates),  # chance is best
        *(Metric(name, higher_is_better=False, defined=False, harnesses=()) for name in orders.biases),
        Metric("acc_readable", defined=False, harnesses=()),
    )


def score_answers(targets: Sequence[str], answers: Sequence[str], orders: Orders = TWO) -> dict[str, float]:
    """The scores of one case, all in [0, 1].

    Args:
        targets: of each order, the letter under which it shows the right response.
        answers: of each order, the letter that was picked, or the reason why the reply is unreadable.

    Returns:
        acc: share of the orders in which the right response was picked; unreadable counts as not picked. Chance:
            `Orders.chance`.
        acc_both (two responses), acc_all (more): 1 if it was picked in every order, else 0. Chance (1 / n) ** n.
        consistency: 1 if the same response was picked in every order, else 0 (position consistency of arXiv
            2406.07791, among cases with all replies readable); nan unless all replies are readable.
        first_rate: share of the readable replies that picked the response shown first; nan without any. A mean of
            1 / n is no position bias. With more than two responses also second_rate and so on.
        invalid: share of the replies that are unreadable.
        bias_first: 1 if every order picked the response shown first, else 0; nan unless all replies are readable. So
            for each place; of two responses, consistency + bias_first + bias_second = 1.
        acc_readable: share of the readable replies that picked the right response; nan without any.
    """
    letters, count = orders.letters, len(orders.names)
    if len(answers) != count:
        raise ValueError(f"found {len(answers)} answers, expected one per order ({', '.join(orders.names)})")
    right, readable = 0, []
    picked = set()  # responses, each by how many places it comes after the right one
    for target, answer in zip(targets, answers, strict=True):
        right += answer == target
        if answer in letters:
            readable.append(answer)
            picked.add((letters.index(answer) - letters.index(target)) % count)
    complete = len(readable) == count
    scores = {
        "acc": right / count,
        orders.all_right: float(right == count),
        "consistency": float(len(picked) == 1) if complete else math.nan,
    }
    for rate, letter in zip(orders.rates, letters, strict=False):  # two places need one rate
        scores[rate] = readable.count(letter) / len(readable) if readable else math.nan
    scores["invalid"] = 1 - len(readable) / count
    for bias, letter in zip(orders.biases, letters, strict=True):
        scores[bias] = float(readable.count(letter) == count) if complete else math.nan
    scores["acc_readable"] = right / len(readable) if readable else math.nan
    return scores


def score_likelihoods(
    targets: Sequence[str], answers: Sequence[str], values: Sequence[LogLikelihoods], orders: Orders
) -> dict[str, float]:
    """The scores of `score_answers`, acc_sym and p_chosen; of values that no model gives, `invalid` alone."""
    found = score_answers(targets, answers, orders)
    found |= {DEBIASED: score_symmetric(values, orders), "p_chosen": p_chosen(values, orders)}
    if any(answer in IMPOSSIBLE for answer in answers):
        return {**dict.fromkeys(found, math.nan), "invalid": found["invalid"]}
    return found


def score_symmetric(values: Sequence[LogLikelihoods], orders: Orders = TWO) -> float:
    """acc_sym: 1 if the right response's log-odds against each other one, averaged over all orders, are positive."""
    # Where it shares the top with others, an equal share of 1. An undefined value counts as not picked.
    shown = []  # of each order, of the responses instead of the letters, the right one first
    for place, of_order in zip(range(len(orders.names)), values, strict=True):
        shown.append((*of_order[place:], *of_order[:place]))
    ahead = 0
    for other in range(1, len(orders.letters)):
        odds = []
        for of_responses in shown:
            right, wrong = of_responses[0], of_responses[other]
            odds.append(0.0 if right == wrong else right - wrong)  # two infinite ones are equal
        total = sum(odds)
        if math.isnan(total) and not any(map(math.isnan, chain(*values))):
            total = 0.0  # +inf and -inf: orders that are certain of the opposite
        if not total >= 0:
            return 0.0
        ahead += total > 0
    return 1 / (len(orders.letters) - ahead)


def p_chosen(values: Sequence[LogLikelihoods], orders: Orders = TWO) -> float:
    """The probability of the right response, averaged over all orders; nan unless defined in all."""
    # The letters have all of the probability: of two, p(chosen) = p / (p(A) + p(B)). Position bias cancels over all
    # orders only.
    shares = []
    for place, of_order in zip(range(len(orders.names)), values, strict=True):
        top = max(of_order)  # from it on, so that nothing underflows
        weights = [math.exp(value - top) for value in of_order]
        shares.append(weights[place] / sum(weights))
    return sum(shares) / len(shares)
