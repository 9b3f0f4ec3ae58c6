"""Which annotator gets which pairs: each pair goes to as many as build.yaml says, everybody gets about as many, and whoever judges for a
person judges several of that person's pairs."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Protocol, TypeVar

PIECES = 8
"""One person's pairs are cut into pieces of at most one part in so many of what each annotator gets, so that nobody gets much more."""


class OfUser(Protocol):
    """Something about one person."""

    @property
    def id(self) -> str: ...

    @property
    def user_id(self) -> str: ...


P = TypeVar("P", bound=OfUser)


def shared_out(
    pairs: Sequence[P], has: Mapping[str, Collection[str]], annotators: Sequence[str], votes: int, seed: int
) -> dict[str, list[P]]:
    """Annotator -> the pairs that they get in addition.

    Args:
        has: pair id -> who has it, and will vote on it.
        annotators: who may get more.
        votes: on each pair. Fewer where there are too few annotators.
    """
    loads = Counter(name for pair in pairs for name in has.get(pair.id, ()))
    lacking: dict[tuple[str, frozenset[str]], list[P]] = defaultdict(list)
    for pair in sorted(pairs, key=lambda pair: drawn(seed, "share", pair.id)):
        voters = frozenset(has.get(pair.id, ()))
        if len(voters) < votes:
            lacking[pair.user_id, voters].append(pair)
    missing = sum((votes - len(voters)) * len(block) for (_, voters), block in lacking.items())
    largest = max(1, missing // (PIECES * max(1, len(annotators))))
    pieces = [
        (voters, block[begin : begin + largest])
        for (_, voters), block in lacking.items()
        for begin in range(0, len(block), largest)
    ]
    gets: dict[str, list[P]] = defaultdict(list)
    for voters, piece in sorted(pieces, key=lambda piece: (-len(piece[1]), drawn(seed, "piece", piece[1][0].id))):
        free = (name for name in annotators if name not in voters)
        least = sorted(free, key=lambda name: (loads[name], drawn(seed, "taker", name, piece[0].id)))
        for name in islice(least, votes - len(voters)):
            loads[name] += len(piece)
            gets[name] += piece
    return gets


def drawn(seed: int, *what: str) -> float:
    """A number in [0, 1) that only the seed and these words decide."""
    return random.Random(":".join((str(seed), *what))).random()
