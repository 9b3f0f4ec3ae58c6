"""Two judges without a model. They read the prompt like any model, and show how well a shortcut scores."""

from __future__ import annotations

from collections.abc import Callable

from .baselines import place_of_most
from .orders import Orders
from .prompts import responses


def judges(orders: Orders) -> dict[str, Callable[[str], str]]:
    """Name -> prompt -> letter.

    - longest: of the response with more characters than any other; of equals the first one.
    - first: of the response that is shown first. The responses need not be found in the prompt.
    """

    def longest(prompt: str) -> str:
        return orders.letters[place_of_most([len(text) for text in responses(prompt, orders)])]

    def first(prompt: str) -> str:
        return orders.letters[0]

    return {"longest": longest, "first": first}
