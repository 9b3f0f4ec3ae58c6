"""How far annotators agree, by tier and on the whole. The coding is part of the number: the same votes give four different kappas."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...common.agreement import alpha, fleiss, randolph
from ...common.statistics import Estimate, estimate_of
from ...common.strict_json import jsonable
from ...personafeedback.cells import DIFFICULTIES
from ..rows import Answer, Pair, Tiered, Vote

HEADLINE = "kappa, random sides"
"""The coefficient that is reported: 0 for random votes, although the two answers of a pair have no names in common with other pairs."""

CODINGS = {
    HEADLINE: "2 P - 1, where P is the share of pairs of annotators who agree: what Fleiss' kappa comes to where each pair's votes are "
    "coded by a side drawn at random",
    "Fleiss, by strategy": "Fleiss' kappa where a vote is what the writer of the answer was told",
    "Fleiss, by letter": "Fleiss' kappa where a vote is the letter under which the answer was shown to this annotator (to a model, in the first of two orders)",
    "Fleiss, by label": "Fleiss' kappa where a vote is chosen or rejected: near 0 or below by construction, since chosen is what most took",
    "alpha, random sides": "Krippendorff's alpha with a side drawn for each pair: for unequal numbers of votes",
}
"""Coefficient -> how a vote is coded."""


@dataclass(frozen=True)
class Voting:
    """The agreement on some pairs.

    Attributes:
        pairs: with two votes or more; users: whose these are.
        votes: fewest and most votes to one of them.
        coefficients: name of CODINGS -> its value with a 95 % interval over users (jackknife); nan where it is not defined.
    """

    pairs: int
    users: int
    votes: tuple[int, int]
    coefficients: Mapping[str, Estimate]

    def as_dict(self) -> dict[str, Any]:
        return jsonable(asdict(self))


def agreement(
    pairs: Sequence[Pair], answers: Sequence[Answer], tiered: Sequence[Tiered], votes: Sequence[Vote]
) -> dict[str, Voting]:
    """Tier -> its agreement; `below` and `all` too. Those without a pair that has two votes are left out.

    Args:
        tiered: all pairs, those below as well.
        votes: those that count.
    """
    strategy = {answer.id: answer.strategy for answer in answers}
    of_pair: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        of_pair[vote.pair_id].append(vote)
    first = {pair.id: pair.first for pair in pairs}
    groups: dict[str, list[Tiered]] = defaultdict(list)
    for pair in tiered:
        if len(of_pair[pair.pair_id]) > 1:
            groups[pair.difficulty or "below"].append(pair)
            groups["all"].append(pair)
    codings: dict[str, tuple[Callable[[Tiered, Vote], str], Callable[[Sequence[Sequence[str]]], float]]] = {
        HEADLINE: (lambda pair, vote: _side(first, vote), lambda rows: randolph(rows, 2)),
        "Fleiss, by strategy": (lambda pair, vote: strategy.get(vote.chosen, ""), fleiss),
        "Fleiss, by letter": (lambda pair, vote: vote.shown_as, fleiss),
        "Fleiss, by label": (lambda pair, vote: "chosen" if vote.chosen == pair.chosen else "rejected", fleiss),
        "alpha, random sides": (lambda pair, vote: _side(first, vote), _alpha),
    }
    agreements = {}
    for name in filter(groups.__contains__, (*DIFFICULTIES, "below", "all")):
        some = groups[name]
        counts, users = [len(of_pair[pair.pair_id]) for pair in some], [pair.user_id for pair in some]
        coefficients = {}
        for coefficient, (coded, measure) in codings.items():
            rows = [[coded(pair, vote) for vote in of_pair[pair.pair_id]] for pair in some]
            coefficients[coefficient] = _estimated(measure, rows, users)
        agreements[name] = Voting(len(some), len(set(users)), (min(counts), max(counts)), coefficients)
    return agreements


def agreement_table(agreements: Mapping[str, Voting], to: str) -> tuple[list[str], list[list[str]]]:
    """(header, rows): a column for each tier, a row for each coefficient.

    Args:
        to: stands between the ends of an interval.
    """
    rows = [["pairs", *(f"{one.pairs:,}" for one in agreements.values())]]
    rows += [[name, *(_with_interval(one.coefficients[name], to) for one in agreements.values())] for name in CODINGS]
    return ["", *agreements], rows


def _with_interval(of: Estimate, to: str) -> str:
    if of.value != of.value:
        return "–"
    return f"{of.value:.2f}" if of.low != of.low else f"{of.value:.2f} ({of.low:.2f}{to}{of.high:.2f})"


def _side(first: Mapping[str, str], vote: Vote) -> str:
    """`first` and `second` are in an order that says nothing, see rows.Pair."""
    return "first" if vote.chosen == first[vote.pair_id] else "second"


def _alpha(rows: Sequence[Sequence[str]]) -> float:
    return alpha(rows, ("first", "second"), "nominal")


def _estimated(
    measure: Callable[[Sequence[Sequence[str]]], float], rows: Sequence[Sequence[str]], users: Sequence[str]
) -> Estimate:
    if len(set(users)) > 1:
        return estimate_of(measure, rows, users, (-1.0, 1.0))
    return Estimate(measure(rows), math.nan, math.nan, math.nan, len(rows), len(set(users)))
