"""Which annotator gets which items, and what they see of them.

A pack only grows: items keep id, sides and place, so that votes still out find them. Edited texts make a new item.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from operator import itemgetter

from ..core.cases import digest_of
from .items import Guideline, Item
from .rows import PackItem

ATTENTION = "attention:"
"""Prefix of an attention item's id, before the id of its item."""

EVERY = 20
"""Other items for each attention item, of which there are at least two."""

INSTRUCTED = "Please tick this line, too: it shows that the list was read."

OTHER = "other"
"""Id of the option of another user's item in an attention item."""

PIECES = 8
"""One person's items are cut into pieces of at most 1/PIECES of an annotator's share, so that nobody gets much more."""


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """Everything that annotators are asked.

    Attributes:
        guidelines: by kind.
        votes: on each item; fewer where there are too few annotators.
    """

    items: Sequence[Item]
    guidelines: Mapping[str, Guideline]
    seed: int
    votes: int

    @cached_property
    def by_id(self) -> dict[str, Item]:
        return {item.id: item for item in self.items}

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {item.id: position for position, item in enumerate(self.items)}

    def made_of(self, given: PackItem) -> Item | None:
        """The item that a place in a pack is about, or that its attention item is made of; None if it is gone."""
        return self.by_id.get(given.pair_id.removeprefix(ATTENTION))

    def now(self, given: PackItem) -> Item | None:
        """The item now asked at a place in a pack; None if it is gone."""
        item = self.made_of(given)
        return self._attention(item) if item is not None and given.pair_id.startswith(ATTENTION) else item

    def seen(self, given: PackItem) -> Item | None:
        """The item as its annotator sees it, a list in an order of their own; None if it was sent with other texts."""
        item = self.now(given)
        if item is None or item.digests != given.texts:
            return None
        order = list(item.answers)
        if item.several:
            order.sort(key=lambda answer: drawn(self.seed, "answer", given.annotator, item.id, answer))
        return item.shown(given.item, is_swapped(item, given), order)

    def added(
        self, kind: str, given: Sequence[PackItem], annotators: Sequence[str], dropped: Collection[str]
    ) -> list[PackItem]:
        """New places of one kind, for the ends of the packs. Items of dropped annotators go to others.

        Args:
            given: existing places, which stay.
        """
        items = [item for item in self.items if item.kind == kind]
        now = {item.id: item.digests for item in items}
        has: dict[str, set[str]] = defaultdict(set)  # an item -> who has it as it is now
        for place in given:
            if place.annotator not in dropped and now.get(place.pair_id) == place.texts:
                has[place.pair_id].add(place.annotator)
        able = [name for name in annotators if name not in dropped]
        gets = shared_out(items, has, able, self.votes, self.seed)
        places: list[PackItem] = []
        for annotator in able:
            own = [item for item in items if annotator in has[item.id]]
            checks = self._more(own, gets[annotator], [place for place in given if place.annotator == annotator])
            new = [(self._order(item, annotator), item) for item in [*gets[annotator], *checks]]
            places += [self._placed(item, annotator) for _, item in sorted(new, key=itemgetter(0))]
        return places

    def _more(self, own: Sequence[Item], new: Sequence[Item], given: Sequence[PackItem]) -> list[Item]:
        # Attention items that an annotator lacks. One whose texts were edited does not count.
        known = set()
        for place in given:
            if place.attention and (item := self.now(place)) is not None and item.digests == place.texts:
                known.add(place.pair_id)
        total = len(own) + len(new)
        lacking = max(2, total // EVERY) - len(known) if total else 0
        checks: list[Item] = []
        for items in (new, own):  # those of persons who are judged for now come first
            for item in sorted(items, key=lambda item: drawn(self.seed, "attention", item.id)):
                if len(checks) == max(0, lacking):
                    return checks
                if f"{ATTENTION}{item.id}" not in known and (made := self._attention(item)) is not None:
                    checks.append(made)
        return checks

    def _attention(self, item: Item) -> Item | None:
        if item.id not in self._attentions:
            made = self._made_for_attention(item)
            self._attentions[item.id] = made and replace(made, id=f"{ATTENTION}{item.id}", block="")
        return self._attentions[item.id]

    @cached_property
    def _attentions(self) -> dict[str, Item | None]:
        return {}

    def _made_for_attention(self, item: Item) -> Item | None:
        # A line that asks to be ticked; or another user's option beside the item's first one, or their text.
        if item.several:
            number = str(len(item.answers) + 1)
            return replace(item, answers={**item.answers, number: INSTRUCTED}, expected=(number,))
        about = {*[*item.texts.values()][:2]}  # others may share the last one, a reason
        others = (
            other
            for other in self.items
            if (other.kind, other.answers) == (item.kind, item.answers)
            and other.user_id != item.user_id
            and about.isdisjoint([*other.texts.values()][:2])
        )
        other = min(others, key=lambda other: drawn(self.seed, "elsewhere", item.id, other.id), default=None)
        if other is None or item.noted:
            return None
        answers = tuple(item.answers)
        if item.options:
            right, text = next(iter(item.options.items()))
            options = {OTHER: next(iter(other.options.values())), right: text}
            return replace(item, options=options, expected=answers[-(len(answers) // 2) :] if answers else (right,))
        side = next(iter(item.texts))
        return replace(item, texts={**other.texts, side: item.texts[side]}, expected=answers[1:])

    def _order(self, item: Item, annotator: str) -> tuple[float, float, float]:
        # One person after another, and of each the items of one block.
        block = drawn(self.seed, "order", annotator, item.block or item.id)
        return drawn(self.seed, "person", annotator, item.user_id), block, self._positions.get(item.id, 0)

    def _placed(self, item: Item, annotator: str) -> PackItem:
        left, right = tuple(item.options) or ("", "")
        if item.options and drawn(self.seed, "side", annotator, item.id) < 0.5:
            left, right = right, left
        # A letter comes first: a spreadsheet would round 694336221e70.
        name = f"i{digest_of((str(self.seed), annotator, item.id, *item.digests))}"
        return PackItem(
            annotator=annotator, item=name, pair_id=item.id, left=left, right=right, 
            attention=" | ".join(item.expected), texts=item.digests,
        )  # fmt: skip


def is_swapped(item: Item, given: PackItem) -> bool:
    """Whether the second option comes first."""
    return bool(item.options) and given.left != next(iter(item.options))


def shared_out(
    items: Sequence[Item], has: Mapping[str, Collection[str]], annotators: Sequence[str], votes: int, seed: int
) -> dict[str, list[Item]]:
    """Annotator -> the items that they get in addition.

    Args:
        has: id of an item -> who has it, and will vote on it.
        votes: on each item; fewer where there are too few annotators.
    """
    loads = Counter(name for item in items for name in has.get(item.id, ()))
    lacking: dict[tuple[str, frozenset[str]], list[Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: (drawn(seed, "share", item.block or item.id), item.id)):
        voters = frozenset(has.get(item.id, ()))
        if len(voters) < votes:
            lacking[item.user_id, voters].append(item)
    missing = sum((votes - len(voters)) * len(of_user) for (_, voters), of_user in lacking.items())
    largest = max(1, missing // (PIECES * max(1, len(annotators))))
    pieces = list[tuple[frozenset[str], list[Item]]]()
    for (_, voters), of_user in lacking.items():
        pieces += [(voters, of_user[begin : begin + largest]) for begin in range(0, len(of_user), largest)]
    gets: dict[str, list[Item]] = defaultdict(list)
    for voters, piece in sorted(pieces, key=lambda piece: (-len(piece[1]), drawn(seed, "piece", piece[1][0].id))):
        free = (name for name in annotators if name not in voters)
        least = sorted(free, key=lambda name: (loads[name], drawn(seed, "taker", name, piece[0].id)))
        for name in islice(least, votes - len(voters)):
            loads[name] += len(piece)
            gets[name] += piece
    return gets


def drawn(seed: int, *what: str) -> float:
    """A number in [0, 1) that depends only on the seed and these words."""
    return random.Random(":".join((str(seed), *what))).random()


def names(count: int) -> list[str]:
    """Names of the annotators: `annotator-1` and so on."""
    return [f"annotator-{number}" for number in range(1, count + 1)]
