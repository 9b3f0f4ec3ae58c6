"""Quality of each annotator's votes: agreement with the others, attention, one answer throughout."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from statistics import mean

from ..common.statistics import ALPHA, percent
from .assignment import ATTENTION
from .items import CANNOT, NONE, Item, is_attentive
from .rows import PackItem, Vote

SLIPS = 0.05
"""Share of attention items that an attentive annotator fails."""

SUSPICIOUS = 12
"""Votes from which one answer throughout is suspicious: an honest annotator would do so once in 2 ** 11."""


@dataclass(frozen=True, kw_only=True)
class Annotator:
    """An annotator's votes.

    Attributes:
        given, votes: items that they were sent, and judged.
        cannot: items that they could not judge.
        shares: for each item, the share of its other voters who gave the same answer.
        attention, failed: attention items judged, and failed.
        one_answer: given to all items; empty if there are two, or few votes.
        checked: how many annotators judged attention items, this one included.
    """

    name: str
    given: int
    votes: int
    cannot: int
    shares: Sequence[float]
    attention: int
    failed: int
    one_answer: str
    checked: int

    @property
    def line(self) -> str:
        parts = [f"{self.votes:,} of {self.given:,} votes"]
        if self.cannot:
            parts.append(f"cannot judge {self.cannot:,}")
        if self.shares:
            parts.append(f"agrees with {percent(mean(self.shares))} % of the others")
        if self.attention:
            parts.append(f"attention {self.attention - self.failed} of {self.attention}")
        return "; ".join(parts)

    @property
    def doubts(self) -> Iterator[str]:
        """Reasons to look at these votes."""
        chance = at_least(self.failed, self.attention)
        if self.failed and chance * self.checked <= ALPHA:
            yield (
                f"failed {self.failed} of {self.attention} attention items: an attentive annotator, who slips on {SLIPS:.0%}, fails this many with a "
                f"probability of {chance:.2g}"
            )
        if self.one_answer:
            yield f"answered {self.one_answer} in all {self.votes + self.attention}"


def at_least(failed: int, items: int, slips: float = SLIPS) -> float:
    """The probability of this many failures or more."""
    return sum(comb(items, k) * slips**k * (1 - slips) ** (items - k) for k in range(failed, items + 1))


def annotators(
    places: Sequence[PackItem], votes: Sequence[Vote], counted: Sequence[tuple[Item, Vote]]
) -> list[Annotator]:
    """Quality of each annotator's votes.

    Args:
        counted: the votes that count, with their items; agreement is over these.
    """
    expected = {(place.annotator, place.pair_id): place.attention for place in places}
    names = {*(place.annotator for place in places), *(vote.annotator for vote in votes)}
    of_name: dict[str, list[Vote]] = {name: [] for name in sorted(names, key=lambda name: (len(name), name))}
    for vote in votes:
        of_name[vote.annotator].append(vote)
    shares, found = _agreement(counted), []
    checks = {
        name: [vote for vote in own if vote.pair_id.startswith(ATTENTION) and vote.chosen != CANNOT]
        for name, own in of_name.items()
    }
    for name, own in of_name.items():
        judged = {vote.pair_id for vote in own if vote.chosen != CANNOT and not vote.pair_id.startswith(ATTENTION)}
        answers = Counter(vote.shown_as for vote in own)
        failed = [
            vote for vote in checks[name] if not is_attentive(expected.get((name, vote.pair_id), ""), vote.chosen)
        ]
        found.append(
            Annotator(
                name=name, given=sum(annotator == name and not answer for (annotator, _), answer in expected.items()), votes=len(judged),
                cannot=answers[CANNOT], shares=shares[name], attention=len(checks[name]), failed=len(failed),
                one_answer=next(iter(answers)) if len(answers) == 1 and len(own) >= SUSPICIOUS else "",
                checked=sum(map(bool, checks.values())),
            )
        )  # fmt: skip
    return found


def _agreement(counted: Sequence[tuple[Item, Vote]]) -> dict[str, list[float]]:
    # Annotator -> shares. Each line of a list counts as an item of its own.
    taken: dict[str, Counter[str]] = defaultdict(Counter)
    answers: list[tuple[str, str, str]] = []
    for item, vote in counted:
        lines = {item.id: vote.chosen}
        if item.several:
            ticked = set(vote.chosen.split()) - {NONE}
            lines = {f"{item.id}#{answer}": str(answer in ticked) for answer in item.answers}
        for name, chosen in lines.items():
            taken[name][chosen] += 1
            answers.append((vote.annotator, name, chosen))
    shares: dict[str, list[float]] = defaultdict(list)
    for annotator, name, chosen in answers:
        others = taken[name].total() - 1
        if others:
            shares[annotator].append((taken[name][chosen] - 1) / others)
    return shares
