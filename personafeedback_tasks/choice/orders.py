"""The two orders in which the responses of a case are shown. Both are always asked, so position bias cancels."""

from __future__ import annotations

from typing import Protocol, TypeVar

from ..replies.answers import LETTERS

ORDERS = ("chosen_first", "rejected_first")
CHOSEN_LETTER = dict(zip(ORDERS, LETTERS, strict=True))
"""The letter under which each order shows the chosen response."""

T = TypeVar("T")


class TwoResponses(Protocol):
    """A case with a response that is right, and another."""

    @property
    def chosen(self) -> str: ...
    @property
    def rejected(self) -> str: ...


def swap(pair: tuple[T, T]) -> tuple[T, T]:
    """The same two things in the other order; swapping twice changes nothing."""
    first, second = pair
    return second, first


def shown(case: TwoResponses, order: str) -> tuple[str, str]:
    """The two responses as this order shows them: (A, B)."""
    pair = (case.chosen, case.rejected)
    return pair if order == ORDERS[0] else swap(pair)
