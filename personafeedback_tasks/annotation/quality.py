"""Quality of each annotator's votes: agreement with the others, attention, one letter throughout, time."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median

from ..common.statistics import ALPHA, Estimate, percent, share
from .assignment import ATTENTION
from .items import CANNOT, NONE, Item, is_attentive
from .rows import PackItem, Vote

SLIPS = 0.05
"""Share of attention items that an attentive annotator fails."""

SUSPICIOUS = 12
"""Votes from which one letter throughout is suspicious: an honest annotator would do so once in 2 ** 11."""


@dataclass(frozen=True, kw_only=True)
class Annotator:
    """An annotator's votes.

    Attributes:
        given: pairs that they were sent; 0 for models.
        votes: on pairs.
        cannot: items that they could not judge.
        agreement: mean share of a pair's other voters who took the same response, with a 95 % interval over users.
        attention, failed: attention items judged, and failed.
        seconds: median per item; nan if unknown.
        one_letter: given in all their answers; empty if there are two, or few answers.
        annotators: how many judged attention items, this one included.
    """

    name: str
    given: int
    votes: int
    cannot: int
    agreement: Estimate
    attention: int
    failed: int
    seconds: float
    one_letter: str
    annotators: int

    @property
    def line(self) -> str:
        parts = [f"{self.votes:,} of {self.given:,} votes" if self.given else f"{self.votes:,} votes"]
        if self.cannot:
            parts.append(f"cannot judge {self.cannot:,}")
        if not math.isnan(self.agreement.value):
            ends = (
                ""
                if math.isnan(self.agreement.low)
                else f" ({percent(self.agreement.low)}–{percent(self.agreement.high)})"
            )
            parts.append(f"agrees with {percent(self.agreement.value)} %{ends} of the others")
        if self.attention:
            parts.append(f"attention {self.attention - self.failed} of {self.attention}")
        if not math.isnan(self.seconds):
            parts.append(f"{self.seconds:.0f} seconds an item")
        return "; ".join(parts)

    @property
    def chance(self) -> float:
        """Probability that an attentive annotator fails as many attention items, or more."""
        return at_least(self.failed, self.attention)

    @property
    def doubts(self) -> Iterator[str]:
        """Reasons to look at these votes."""
        if self.failed and self.chance * self.annotators <= ALPHA:
            yield (
                f"failed {self.failed} of {self.attention} attention items: an attentive annotator, who slips on {SLIPS:.0%}, fails this many with a "
                f"probability of {self.chance:.2g}"
            )
        if self.one_letter:
            yield f"answered {self.one_letter} in all {self.votes + self.attention}"


def at_least(failed: int, items: int, slips: float = SLIPS) -> float:
    """The probability of this many failures or more."""
    return sum(comb(items, k) * slips**k * (1 - slips) ** (items - k) for k in range(failed, items + 1))


def annotators(
    pack_of: Mapping[str, str], places: Sequence[PackItem], votes: Sequence[Vote], counted: Sequence[tuple[Item, Vote]]
) -> list[Annotator]:
    """Quality of each annotator's votes.

    Args:
        pack_of: annotator -> whose pack they had.
        counted: the votes that count, with their items; agreement is over these.
    """
    expected = {(place.annotator, place.pair_id): place.attention for place in places}
    of_name: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        of_name[vote.annotator].append(vote)
    agreement = _agreement(counted)
    judged = {
        name: [vote for vote in of_name[name] if vote.pair_id.startswith(ATTENTION) and vote.chosen != CANNOT]
        for name in pack_of
    }
    with_attention = sum(map(bool, judged.values()))
    found = []
    for name, pack in pack_of.items():
        own = of_name[name]
        on_items = {vote.pair_id for vote in own if vote.chosen != CANNOT and not vote.pair_id.startswith(ATTENTION)}
        letters = Counter(vote.shown_as for vote in own)
        seconds = [vote.seconds for vote in own if vote.seconds]
        failed = [
            vote for vote in judged[name] if not is_attentive(expected.get((pack, vote.pair_id), ""), vote.chosen)
        ]
        found.append(
            Annotator(
                name=name, given=sum(annotator == pack and not answer for (annotator, _), answer in expected.items()), votes=len(on_items),
                cannot=letters[CANNOT], agreement=agreement(name), attention=len(judged[name]), failed=len(failed),
                seconds=median(seconds) if seconds else math.nan,
                one_letter=next(iter(letters)) if len(letters) == 1 and len(own) >= SUSPICIOUS else "", annotators=with_attention,
            )
        )  # fmt: skip
    return found


def _agreement(counted: Iterable[tuple[Item, Vote]]) -> Callable[[str], Estimate]:
    # Each line of a list counts as an item of its own.
    taken: dict[str, Counter[str]] = defaultdict(Counter)
    answers: list[tuple[str, str, str, str]] = []
    for item, vote in counted:
        lines = {item.id: vote.chosen}
        if item.several:
            ticked = set(vote.chosen.split()) - {NONE}
            lines = {f"{item.id}#{answer}": str(answer in ticked) for answer in item.answers}
        for name, chosen in lines.items():
            taken[name][chosen] += 1
            answers.append((vote.annotator, item.user_id, name, chosen))
    shares: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for annotator, user, name, chosen in answers:
        others = taken[name].total() - 1
        if others:
            shares[annotator].append(((taken[name][chosen] - 1) / others, user))

    def of(name: str) -> Estimate:
        values, users = zip(*shares[name], strict=True) if shares[name] else ((), ())
        return share(values, users)

    return of
