"""Quality of each annotator's votes: agreement with the others, attention, one answer throughout."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import comb
from statistics import mean
from typing import NamedTuple

from ..stats.estimates import ALPHA, percent
from .assignment import ATTENTION
from .items import CANNOT, NONE, Item
from .rows import PackItem, Vote

SLIPS = 0.05
"""Share of attention items that an attentive annotator fails."""

SUSPICIOUS = 12
"""Votes from which one answer throughout is suspicious: an honest annotator would do so once in 2 ** 11."""


class Annotator(NamedTuple):
    """An annotator's name, a line on their votes, and reasons to look at them."""

    name: str
    line: str
    doubts: Sequence[str]


def annotators(
    places: Sequence[PackItem], votes: Sequence[Vote], counted: Sequence[tuple[Item, Vote]]
) -> list[Annotator]:
    """Quality of each annotator's votes. Agreement is over those that count, with their items: the mean share of the
    other voters who gave the same answer."""
    expected = {(place.annotator, place.pair_id): place.attention for place in places}
    given = Counter(name for (name, _), attention in expected.items() if not attention)
    of_name: dict[str, list[Vote]] = {name: [] for name in sorted(given, key=lambda name: (len(name), name))}
    checks: dict[str, list[bool]] = defaultdict(list)
    for vote in votes:
        of_name.setdefault(vote.annotator, []).append(vote)
        if vote.pair_id.startswith(ATTENTION) and vote.chosen != CANNOT:
            accepted = expected.get((vote.annotator, vote.pair_id), "").split(" | ")
            ticked = {*vote.chosen.split()}
            checks[vote.annotator].append(any(ticked.issuperset(one.split()) for one in accepted))
    shares, found = _agreement(counted), []
    for name, own in of_name.items():
        judged = {vote.pair_id for vote in own if vote.chosen != CANNOT and not vote.pair_id.startswith(ATTENTION)}
        answers, passed_checks = Counter(vote.shown_as for vote in own), checks.get(name, [])
        total, failed = len(passed_checks), passed_checks.count(False)
        parts, doubts = [f"{len(judged):,} of {given[name]:,} votes"], list[str]()
        if answers[CANNOT]:
            parts.append(f"cannot judge {answers[CANNOT]:,}")
        if shares[name]:
            parts.append(f"agrees with {percent(mean(shares[name]))} % of the others")
        if total:
            parts.append(f"attention {total - failed} of {total}")
        chance = at_least(failed, total)
        if failed and chance * len(checks) <= ALPHA:
            doubts.append(
                f"failed {failed} of {total} attention items: an attentive annotator, who slips on {SLIPS:.0%}, "
                f"fails this many with a probability of {chance:.2g}"
            )
        if len(answers) == 1 and len(own) >= SUSPICIOUS:
            doubts.append(f"answered {next(iter(answers))} in all {len(own)}")
        found.append(Annotator(name, "; ".join(parts), doubts))
    return found


def at_least(failed: int, items: int) -> float:
    """The probability that an attentive annotator fails `failed` or more of `items` attention items."""
    return sum(comb(items, k) * SLIPS**k * (1 - SLIPS) ** (items - k) for k in range(failed, items + 1))


def _agreement(counted: Sequence[tuple[Item, Vote]]) -> dict[str, list[float]]:
    # Annotator -> shares. Each line of a list counts as an item of its own.
    answers: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for item, vote in counted:
        ticked = set(vote.chosen.split()) - {NONE}
        for line in item.answers if item.several else [""]:
            answers[f"{item.id}#{line}"].append((vote.annotator, str(line in ticked) if line else vote.chosen))
    shares: dict[str, list[float]] = defaultdict(list)
    for given in answers.values():
        same = Counter(answer for _, answer in given)
        for annotator, answer in given if len(given) > 1 else ():
            shares[annotator].append((same[answer] - 1) / (len(given) - 1))
    return shares
