"""What calls of a model took: how many, and their tokens."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

ELSEWHERE = "in no scored sample"
"""What was asked for samples that failed, were stopped, or were started again."""


class Usage(NamedTuple):
    """What some calls took. nan where nobody counted it."""

    calls: float = math.nan  # that a model answered: one asked again counts once, a reply from a cache not at all
    input: float = math.nan  # tokens of the prompts
    cached: float = math.nan  # those of them that the provider had in its cache
    output: float = math.nan  # tokens of the replies
    reasoning: float = math.nan  # those of them that were thought and not said

    @property
    def tokens(self) -> float:
        """The tokens of prompts and replies."""
        return self.input + self.output

    @property
    def counted(self) -> bool:
        """Whether somebody counted the tokens."""
        return not math.isnan(self.tokens)

    def __add__(self, other: Usage) -> Usage:  # type: ignore[override]
        return total([self, other])


UNCOUNTED = Usage()
NONE = Usage(0, 0, 0, 0, 0)


def total(usages: Iterable[Usage]) -> Usage:
    """The usage of several calls or runs together."""
    sums = [sum(of_field) for of_field in zip(NONE, *usages, strict=True)]
    return Usage(*[value if value == value else math.nan for value in sums])  # one nan: equal sums are equal


@dataclass(frozen=True)
class Prices:
    """Dollars per million tokens."""

    input: float
    output: float

    def of(self, usage: Usage) -> float:
        """Dollars. Input that the provider had cached counts in full."""
        return (usage.input * self.input + usage.output * self.output) / 1e6
