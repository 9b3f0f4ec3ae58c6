"""What tossed coins would do to votes: whether a majority is more than chance. Exact, for any number of votes."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

LABEL = Fraction(1, 20)
"""At most this share of pairs on which everybody tosses a coin gets a label: the chance of a majority for either answer."""

CONFIRMED = Fraction(1, 10)
"""The same for a pair whose label is known by construction: the chance of a majority for that answer."""


@cache
def least_majority(votes: int, chance: Fraction = LABEL, sides: int = 2) -> int:
    """The fewest agreeing votes that tossed coins reach with this chance at most: 8 of 9, 18 of 25; `votes` + 1 if they always may.

    Args:
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
    """Which majority of so many votes a pair needs for a label, or that none will do."""
    if votes < LEAST_VOTES:
        return (
            f"! With annotators: {votes} no pair can become Medium or Hard: tossed coins agree as far in more than 5 % of pairs. Set at least "
            f"{LEAST_VOTES} in build.yaml before you buy votes; the paper has nine."
        )
    return f"With annotators: {votes}, a Medium or Hard pair needs {least_majority(votes)} votes for one answer, which tossed coins reach in at most 5 % of pairs."
