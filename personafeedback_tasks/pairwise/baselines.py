"""Shortcuts: judges without a model, computed from the texts, that pick the response with most of something.

Each has the `acc` of a case over all orders, like a model, and so equals the judge of the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from ..stats.estimates import mean
from .orders import Orders
from .orders import responses as responses_in
from .terms import overlap_terms


def place_of_most(shown: Sequence[float]) -> int:
    """The place of the largest value, the first one of equals."""
    return shown.index(max(shown))


def acc_of_most(responses: Sequence[str], orders: Orders, measure: Callable[[str], float]) -> float:
    """The `acc` of picking the response that measures most; the right one is the first of `responses`."""
    # Two equal responses score 0.5: in each order the other one is first.
    values = [measure(response) for response in responses]
    if values.count(top := max(values)) == 1:
        return float(values[0] == top)
    return mean(float(place_of_most(orders.shown(values, order)) == right) for right, order in enumerate(orders.names))


def longest(responses: Sequence[str], orders: Orders) -> float:
    """Picks the response with most characters."""
    return acc_of_most(responses, orders, len)


def overlap(responses: Sequence[str], orders: Orders, about: str) -> float:
    """Picks the response with most distinct terms that occur in what is known about the user."""
    # The count grows with the length too; `overlap_share` is free of that.
    return acc_of_most(responses, orders, lambda response: shared_terms(response, about)[0])


def overlap_share(responses: Sequence[str], orders: Orders, about: str) -> float:
    """Picks the response with the largest share of distinct terms that occur in what is known about the user."""
    return acc_of_most(responses, orders, lambda response: shared_terms(response, about)[1])


@lru_cache(maxsize=16_384)  # the cases of a question share responses
def shared_terms(response: str, about: str) -> tuple[int, float]:
    """(number, share) of a response's distinct terms that occur in what is known about the user."""
    terms = overlap_terms(response)
    shared = len(terms & _terms_about(about))
    return shared, shared / len(terms) if terms else 0.0


@lru_cache(maxsize=4096)  # a user asks many questions
def _terms_about(about: str) -> frozenset[str]:
    return overlap_terms(about)


def judges(orders: Orders) -> dict[str, Callable[[str], str]]:
    """Name -> prompt -> letter: of the longest response (the first one of equals), or of the first one."""

    def longest(prompt: str) -> str:
        return orders.letters[place_of_most([len(text) for text in responses_in(prompt, orders)])]

    def first(prompt: str) -> str:
        return orders.letters[0]

    return {"longest": longest, "first": first}
