"""Whether a majority of votes is more than chance: the exact distribution of tossed coins."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

LABEL = Fraction(1, 20)
"""Largest share of pairs that get a label, for either answer, where everybody tosses a coin."""

CONFIRMED = Fraction(1, 10)
"""Largest share of pairs with a label known by construction that get it where everybody tosses a coin."""


@cache
def least_majority(votes: int, chance: Fraction = LABEL, sides: int = 2) -> int:
    """The smallest majority that tossed coins reach with at most this chance: 8 of 9, 18 of 25; `votes` + 1 if none does.

    Args:
        chance: between 0 and 1.
        sides: 2 if either answer may have the majority, 1 if it must be the one that is known beforehand.
    """
    ways = 0
    for agree in range(votes, votes // 2, -1):
        ways += comb(votes, agree)
        if Fraction(sides * ways, 2**votes) > chance:
            return agree + 1
    return votes // 2 + 1


LEAST_VOTES = next(votes for votes in range(1, 100) if least_majority(votes) <= votes)
"""With fewer, even full agreement may be chance, and a pair that is not built to be easy gets no label."""


def label_rule(votes: int) -> str:
    """A sentence on the majority that a label needs with this many votes to a pair, or that no majority is enough."""
    if votes < LEAST_VOTES:
        return (
            f"! With {votes} votes to a pair, no pair can become Medium or Hard: so few votes agree by chance in more than 5 % of pairs. Set annotators and "
            f"votes_per_pair to at least {LEAST_VOTES} in build.toml before you buy votes; the paper has nine."
        )
    return f"With {votes} votes to a pair, a Medium or Hard pair needs {least_majority(votes)} votes for one answer, which chance alone reaches in at most 5 % of pairs."
