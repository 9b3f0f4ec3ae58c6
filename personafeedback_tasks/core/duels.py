"""Data that are duels: replies that a model wrote, each against another text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from ..common.records import one_of

WON = {"tie": 0.5, "empty": 0.0, "other_empty": 1.0}
"""Why nobody is asked -> the vote for the reply: both sides are the same text, the reply is empty, the other is."""


class NotAsked(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A reply that needs no judge."""

    case: str  # id in the benchmark, not among the duels
    cell: str
    user_id: str
    why: Annotated[str, one_of(*WON)]

    @property
    def won(self) -> float:
        """The vote for the reply."""
        return WON[self.why]


class Duel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose replies stand against what. The better response of each case is the reply."""

    writer: str  # a model, and how it was asked where that is not the default
    against: str  # one of the benchmark's responses, or another writer
    models: Annotated[tuple[str, ...], Meta(min_length=1, max_length=2)]  # of the writer, and of another one
    pairs: Annotated[int, Meta(ge=1)]  # replies, asked or not: without some losses, the writer would win more
    not_asked: tuple[NotAsked, ...] = ()
    demonstration: bool = False  # whether the questions are those of a bundled sample


class Duels(Duel, frozen=True, kw_only=True):
    """Some cases as duels."""

    sources: Mapping[str, str]  # case id -> id of the benchmark's case that the reply was written for
