"""Answers -> the scores of a case. A value with an empty denominator is nan, never 0, and is left out of means."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..core.evidence import LogLikelihoods
from ..core.method import Metric
from .orders import TWO, Orders


def metrics(orders: Orders) -> tuple[Metric, ...]:
    """The values of `score_answers`, and which tables have them."""
    return (
        Metric("acc"),
        Metric(orders.all_right),
        Metric("invalid", higher_is_better=False),
        Metric("consistency", defined=False),
        *(Metric(rate, higher_is_better=None, defined=False) for rate in orders.rates),  # chance is best
        *(Metric(name, defined=False, harnesses=()) for name in (*orders.biases, "acc_readable")),
    )


def score_answers(answers: Sequence[str], orders: Orders = TWO) -> dict[str, float]:
    """The scores of one case, all in [0, 1].

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
    count = len(orders.names)
    if len(answers) != count:
        raise ValueError(f"found {len(answers)} answers, expected one per order ({', '.join(orders.names)})")
    picks = orders.picks(answers)
    readable = [answer for answer in answers if answer in orders.letters]
    complete = len(readable) == count
    right = picks.count(0)
    counts = [readable.count(letter) for letter in orders.letters]
    return {
        "acc": right / count,
        orders.all_right: float(right == count),
        "consistency": float(len(set(picks)) == 1) if complete else math.nan,
        **{
            rate: times / len(readable) if readable else math.nan
            for rate, times in zip(orders.rates, counts, strict=False)  # two places need one rate
        },
        "invalid": 1 - len(readable) / count,
        **{
            bias: float(times == count) if complete else math.nan
            for bias, times in zip(orders.biases, counts, strict=True)
        },
        "acc_readable": right / len(readable) if readable else math.nan,
    }


def score_symmetric(values: Sequence[LogLikelihoods], orders: Orders = TWO) -> float:
    """acc_sym: 1 if the right response's log-odds against each other one, averaged over all orders, are positive."""
    # Where it shares the top with others, an equal share of 1. An undefined value counts as not picked.
    places = range(len(orders.names))
    shown = [_of_responses(of_order, place) for place, of_order in zip(places, values, strict=True)]
    undefined = any(math.isnan(value) for of_order in values for value in of_order)
    ahead = 0
    for other in range(1, len(orders.letters)):
        total = sum(0.0 if right == wrong else right - wrong for right, wrong in ((of[0], of[other]) for of in shown))
        if math.isnan(total) and not undefined:
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
        weights = [
            math.exp(value - max(of_order)) for value in of_order
        ]  # from the largest one, so that nothing underflows
        shares.append(weights[place] / sum(weights))
    return sum(shares) / len(shares)


def _of_responses(values: LogLikelihoods, place: int) -> LogLikelihoods:
    # Of the letters -> of the responses, the right one first.
    return (*values[place:], *values[:place])
