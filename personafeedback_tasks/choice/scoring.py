"""Answers -> the scores of a case.

A case has one answer per order (see `orders.ORDERS`): `A`, `B`, or the reason why the reply is unreadable.
A value with an empty denominator is nan, never 0, and is left out of means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..replies.answers import LETTERS
from ..replies.letter_probabilities import LogLikelihoods
from .orders import CHOSEN_LETTER, ORDERS

METRICS = ("acc", "acc_both", "consistency", "first_rate", "invalid")
"""What harnesses print of the answers of a case."""


def score_answers(answers: Sequence[str]) -> dict[str, float]:
    """Score one case from its answers in the order of ORDERS.

    Returns:
        All values are in [0, 1].
        acc: mean over both orders of "the chosen response was picked"; unreadable counts as not picked. Chance 0.5.
        acc_both: 1 if it was picked in both orders, else 0. Chance 0.25.
        consistency: 1 if the same response was picked in both orders, else 0 (position consistency of
            arXiv 2406.07791, among cases with both replies readable); nan unless both replies are readable.
        first_rate: share of the readable replies that picked the response shown first; nan without any.
            A mean of 0.5 is no position bias.
        invalid: share of the replies that are unreadable.
        bias_first: 1 if both orders picked the response shown first, else 0; nan unless both replies are readable.
        bias_second: the same of the response shown second. consistency + bias_first + bias_second = 1.
        acc_readable: share of the readable replies that picked the chosen response; nan without any.

    Raises:
        ValueError: the number of answers is not the number of orders.
    """
    if len(answers) != len(ORDERS):
        raise ValueError(f"found {len(answers)} answers, expected one per order ({', '.join(ORDERS)})")
    picked = [answer == CHOSEN_LETTER[order] for order, answer in zip(ORDERS, answers, strict=True)]
    readable = [answer for answer in answers if answer in LETTERS]
    first = readable.count(LETTERS[0])
    complete = len(readable) == len(ORDERS)
    return {
        "acc": sum(picked) / len(ORDERS),
        "acc_both": float(all(picked)),
        # The orders mirror each other, so two different letters are the same response.
        "consistency": float(0 < first < len(ORDERS)) if complete else math.nan,
        "first_rate": first / len(readable) if readable else math.nan,
        "invalid": 1 - len(readable) / len(ORDERS),
        "bias_first": float(first == len(ORDERS)) if complete else math.nan,
        "bias_second": float(first == 0) if complete else math.nan,
        "acc_readable": sum(picked) / len(readable) if readable else math.nan,
    }


def score_symmetric(pairs: Sequence[LogLikelihoods]) -> float:
    """acc_sym: 1 if the log-odds of the chosen response, averaged over both orders, are positive; 0.5 on an exact tie.

    Args:
        pairs: log-likelihoods of (A, B), one pair per order of ORDERS. An undefined pair counts as not picked.
    """
    odds = []
    for order, (a, b) in zip(ORDERS, pairs, strict=True):
        odds.append(0.0 if a == b else (a - b if CHOSEN_LETTER[order] == LETTERS[0] else b - a))
    total = sum(odds)
    if math.isnan(total) and not any(math.isnan(value) for pair in pairs for value in pair):
        total = 0.0  # +inf and -inf: each order is certain of the opposite
    return 0.5 if total == 0 else float(total > 0)


def p_chosen(pairs: Sequence[LogLikelihoods]) -> float:
    """The probability of the chosen response, averaged over both orders. Chance 0.5.

    The two letters have all of the probability: p(chosen) = p / (p(A) + p(B)). nan unless defined in both orders, since position bias
    cancels only then.

    Args:
        pairs: as in `score_symmetric`.
    """
    shares = []
    for order, pair in zip(ORDERS, pairs, strict=True):
        # From the larger one, so that nothing underflows.
        a, b = (math.exp(value - max(pair)) for value in pair)
        shares.append((a if CHOSEN_LETTER[order] == LETTERS[0] else b) / (a + b))
    return sum(shares) / len(shares)
