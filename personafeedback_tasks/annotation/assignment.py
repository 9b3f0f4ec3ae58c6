"""Which annotator gets which items, and what they see of them.

A pack only grows: items keep their id, sides and place, so that votes still out find them. An item with edited texts is new.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, islice

from ..core.cases import digest_of
from .items import Guideline, Item
from .rows import PackItem

ATTENTION = "attention:"
"""Prefix of an attention item's id, before the id of its item."""

EVERY = 20
"""Other items for each attention item, of which there are at least two."""

PIECES = 8
"""One person's items are cut into pieces of at most 1/PIECES of an annotator's share, so that nobody gets much more."""

Block = tuple[Item, ...]
"""Items that one annotator gets together, in this order; mostly one alone."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Everything that annotators are asked.

    Attributes:
        items: those of a block one after another.
        attention: (item, ids of its options if it was an attention item before) -> the attention item, see `Item.expected`; None if impossible.
        guidelines: by kind.
        votes: on each item; fewer where there are too few annotators.
    """

    items: Sequence[Item]
    attention: Callable[[Item, Sequence[str]], Item | None]
    guidelines: Mapping[str, Guideline]
    seed: int
    votes: int

    @cached_property
    def by_id(self) -> dict[str, Item]:
        return {item.id: item for item in self.items}

    def made_of(self, given: PackItem) -> Item | None:
        """The item that a place in a pack is about, or that its attention item is made of; None if it is gone."""
        return self.by_id.get(given.pair_id.removeprefix(ATTENTION))

    def now(self, given: PackItem) -> Item | None:
        """The item now asked at a place in a pack; None if it is gone."""
        item = self.made_of(given)
        if item is None or not given.pair_id.startswith(ATTENTION):
            return item
        return self._attention(item, tuple(filter(None, given.options)))

    def seen(self, given: PackItem) -> Item | None:
        """The item as its annotator sees it, a list in an order of their own; None if it was sent with other texts."""
        item = self.now(given)
        if item is None or item.digests != given.texts:
            return None
        order = list(item.answers)
        if item.several:
            order.sort(key=lambda answer: self._drawn("answer", given.annotator, item.id, answer))
        return item.shown(given.item, is_swapped(item, given), order)

    def added(
        self, kind: str, given: Sequence[PackItem], annotators: Sequence[str], dropped: Collection[str]
    ) -> list[PackItem]:
        """New places of one kind, for the ends of the packs. Dropped annotators get nothing more, and others get their items.

        Args:
            given: existing places, which stay.
        """
        of_kind = (item for item in self.items if item.kind == kind)
        blocks = [tuple(block) for _, block in groupby(of_kind, key=lambda item: item.block or item.id)]
        now = {item.id: item.digests for block in blocks for item in block}
        has: dict[str, set[str]] = defaultdict(set)  # an item -> who has it as it is now
        for place in given:
            if place.annotator not in dropped and now.get(place.pair_id) == place.texts:
                has[place.pair_id].add(place.annotator)
        of_block = {block[0].id: set[str]().union(*(has[item.id] for item in block)) for block in blocks}
        able = [name for name in annotators if name not in dropped]
        gets = shared_out(blocks, of_block, able, self.votes, self.seed)
        places: list[PackItem] = []
        for annotator in able:
            own = [item for block in blocks for item in block if annotator in has[item.id]]
            new = [*gets[annotator]]
            for block in blocks:  # items that were added to a block of theirs
                if annotator in of_block[block[0].id]:
                    new.append(tuple(item for item in block if annotator not in has[item.id]))
            items = [item for block in new for item in block]
            checks = self._more(own, items, [place for place in given if place.annotator == annotator])
            places += self._in_own_order([*filter(None, new), *((item,) for item in checks)], annotator)
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
            for item in sorted(items, key=lambda item: self._drawn("attention", item.id)):
                if len(checks) == max(0, lacking):
                    return checks
                if f"{ATTENTION}{item.id}" not in known and (made := self._attention(item, ())) is not None:
                    checks.append(made)
        return checks

    def _attention(self, item: Item, given: Sequence[str]) -> Item | None:
        made = self.attention(item, given)
        return made and replace(made, id=f"{ATTENTION}{item.id}", block="")

    def _in_own_order(self, blocks: Sequence[Block], annotator: str) -> list[PackItem]:
        def order(block: Block) -> tuple[float, str, float]:
            user = block[0].user_id
            return self._drawn("person", annotator, user), user, self._drawn("order", annotator, block[0].id)

        return [self._placed(item, annotator) for block in sorted(blocks, key=order) for item in block]

    def _placed(self, item: Item, annotator: str) -> PackItem:
        left, right = tuple(item.options) or ("", "")
        if item.options and self._drawn("side", annotator, item.id) < 0.5:
            left, right = right, left
        # A letter comes first: a spreadsheet would round 694336221e70.
        name = f"i{digest_of((str(self.seed), annotator, item.id, *item.digests))}"
        return PackItem(
            annotator=annotator, item=name, pair_id=item.id, left=left, right=right, attention=" | ".join(item.expected), texts=item.digests
        )  # fmt: skip

    def _drawn(self, *what: str) -> float:
        return drawn(self.seed, *what)


def is_swapped(item: Item, given: PackItem) -> bool:
    """Whether the second option comes first."""
    return bool(item.options) and given.left != next(iter(item.options))


def shared_out(
    blocks: Sequence[Block], has: Mapping[str, Collection[str]], annotators: Sequence[str], votes: int, seed: int
) -> dict[str, list[Block]]:
    """Annotator -> the blocks that they get in addition.

    Args:
        has: id of a block's first item -> who has it, and will vote on it.
        votes: on each block; fewer where there are too few annotators.
    """
    loads = Counter(name for block in blocks for name in has.get(block[0].id, ()))
    lacking: dict[tuple[str, frozenset[str]], list[Block]] = defaultdict(list)
    for block in sorted(blocks, key=lambda block: drawn(seed, "share", block[0].id)):
        voters = frozenset(has.get(block[0].id, ()))
        if len(voters) < votes:
            lacking[block[0].user_id, voters].append(block)
    missing = sum((votes - len(voters)) * len(of_user) for (_, voters), of_user in lacking.items())
    largest = max(1, missing // (PIECES * max(1, len(annotators))))
    pieces = [
        (voters, of_user[begin : begin + largest])
        for (_, voters), of_user in lacking.items()
        for begin in range(0, len(of_user), largest)
    ]
    gets: dict[str, list[Block]] = defaultdict(list)
    for voters, piece in sorted(pieces, key=lambda piece: (-len(piece[1]), drawn(seed, "piece", piece[1][0][0].id))):
        free = (name for name in annotators if name not in voters)
        least = sorted(free, key=lambda name: (loads[name], drawn(seed, "taker", name, piece[0][0].id)))
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
