"""What a judge finds in people's place: of how many cases something is so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .outcome import Outcome


@dataclass(frozen=True, kw_only=True)
class Share:
    """The share of cases of which something is so, to people and to a judge in their place.

    Attributes:
        name: for the head of a column: `relevant`.
        option: in which a run on cases that nobody judged differs from its exam.
        said: what the model says of a case: 1 if it is so, 0 if not or unreadable.
        true: the same of people, of a case that they judged.
    """

    name: str
    option: str
    said: Callable[[Outcome], float]
    true: Callable[[Outcome], float]
