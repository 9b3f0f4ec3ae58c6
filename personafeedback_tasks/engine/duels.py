"""What the reports need to know of data that are duels: replies that a model wrote, each against another text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class NotAsked:
    """A reply that needs no judge.

    Attributes:
        case, cell, user_id: of the benchmark's case.
        won: 0.5 for a reply that equals the other side, 0 for an empty one, 1 against an empty one.
        why: `tie`, `empty` or `other_empty`.
    """

    case: str
    cell: str
    user_id: str
    won: float
    why: str


@dataclass(frozen=True)
class Duels:
    """Some cases as duels: the better response of each is the reply.

    Attributes:
        writer: who wrote the replies: a model, and how it was asked where that is not the default.
        against: whose texts the other sides are: one of the benchmark's responses, or another writer.
        models: the models alone of writer and, where it is one, of the other side.
        sources: case id -> id of the benchmark's case that the reply was written for.
        not_asked: the replies without a case.
    """

    writer: str
    against: str
    models: Sequence[str]
    sources: Mapping[str, str]
    not_asked: Sequence[NotAsked] = ()
