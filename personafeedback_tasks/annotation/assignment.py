"""Which annotator gets which items, and what they see of them.

A pack only grows: items keep id, sides and place, so that votes still out find them. Edited texts make a new item.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    """Everything that annotators are asked."""

    items: Sequence[Item]
    guidelines: Mapping[str, Guideline]  # by kind
    seed: int
    votes: int  # on each item; fewer where there are too few annotators
    _attentions: dict[str, Item | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def by_id(self) -> dict[str, Item]:
        return {item.id: item for item in self.items}

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {item.id: position for position, item in enumerate(self.items)}

    def now(self, given: PackItem) -> Item | None:
        """The item now asked at a place in a pack; None if it is gone."""
        item = self.by_id.get(given.pair_id.removeprefix(ATTENTION))
        return self._attention(item) if item is not None and given.pair_id.startswith(ATTENTION) else item

    def unedited(self, given: PackItem) -> Item | None:
        """The item at a place in a pack; None if it is gone, or was sent with other texts."""
        item = self.now(given)
        return item if item is not None and item.digests == given.texts else None

    def seen(self, given: PackItem) -> Item | None:
        """The item as its annotator sees it, a list in an order of their own; None if it was sent with other texts."""
        item = self.unedited(given)
        if item is None:
            return None
        options, answers = [*item.options.items()], [*item.answers.items()]
        if is_swapped(item, given):
            options.reverse()
        if item.several:
            answers.sort(key=lambda answer: drawn(self.seed, "answer", given.annotator, item.id, answer[0]))
        return replace(item, id=given.item, options=dict(options), answers=dict(answers))

    def added(self, given: Sequence[PackItem], annotators: Sequence[str], dropped: Collection[str]) -> list[PackItem]:
        """New places, for the ends of the packs with the `given` ones. Items of dropped annotators go to others."""
        has: dict[str, set[str]] = defaultdict(set)  # an item -> who has it as it is now
        checks: dict[tuple[str, str], set[str]] = defaultdict(set)  # a kind and an annotator -> attention items
        for place in given:
            item = self.unedited(place)
            if item is not None and place.annotator not in dropped:
                if place.attention:
                    checks[item.kind, place.annotator].add(item.id)
                else:
                    has[item.id].add(place.annotator)
        able = [name for name in annotators if name not in dropped]
        places: list[PackItem] = []
        for kind in dict.fromkeys(item.kind for item in self.items):
            items = [item for item in self.items if item.kind == kind]
            gets = shared_out(items, has, able, self.votes, self.seed)
            for annotator in able:
                own = [item for item in items if annotator in has[item.id]]
                new = [*gets[annotator], *self._more_attention(own, gets[annotator], checks[kind, annotator])]
                ordered = sorted(((self._order(item, annotator), item) for item in new), key=itemgetter(0))
                places += [self._placed(item, annotator) for _, item in ordered]
        return places

    def _more_attention(self, own: Sequence[Item], new: Sequence[Item], known: Collection[str]) -> list[Item]:
        # Attention items that an annotator lacks, those of persons who are judged for now first.
        total = len(own) + len(new)
        lacking = max(2, total // EVERY) - len(known) if total else 0
        ordered = list[Item]()
        for items in (new, own):
            ordered += sorted(items, key=lambda item: drawn(self.seed, "attention", item.id))
        made = (check for item in ordered if (check := self._attention(item)) and check.id not in known)
        return list(islice(made, max(0, lacking)))

    def _attention(self, item: Item) -> Item | None:
        if item.id not in self._attentions:
            made = self._made_for_attention(item)
            self._attentions[item.id] = made and replace(made, id=f"{ATTENTION}{item.id}", block="")
        return self._attentions[item.id]

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
