"""What is asked -> what each annotator sees of it, whatever the question is. A pack only grows: what an annotator was given once keeps its
item, its sides and its place, so that votes that are still out find what they are about, whatever was added since."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Generic, TypeVar

from ...annotation.rows import Digests, PackItem
from ...engine.cases import digest_of
from .sharing import OfUser, drawn, shared_out

ATTENTION = "attention:"
"""What the pair_id of an attention item begins with; the id of what it was made of follows."""

EVERY = 20
"""One attention item for so many others, and two at least."""


T = TypeVar("T", bound=OfUser)


class Block(tuple[T, ...]):
    """What goes to one annotator together, in this order; most often one thing alone."""

    __slots__ = ()

    @property
    def id(self) -> str:
        return self[0].id

    @property
    def user_id(self) -> str:
        return self[0].user_id


class Packing(ABC, Generic[T]):
    """How one kind of things is packed."""

    seed: int
    votes: int

    @abstractmethod
    def texts(self, thing: T) -> Digests:
        """Digests of its texts. What was given with other ones is given anew."""

    @abstractmethod
    def attention(self, thing: T) -> T | None:
        """The attention item that is made of it, whose id begins with ATTENTION; None if there is none."""

    @abstractmethod
    def of_item(self, item: PackItem) -> T | None:
        """What an attention item is now; None if it is made no longer."""

    @abstractmethod
    def item(self, thing: T, annotator: str) -> PackItem:
        """What the annotator sees of it."""

    def grown(
        self,
        blocks: Sequence[Block[T]],
        given: Sequence[PackItem],
        annotators: Sequence[str],
        dropped: Collection[str],
    ) -> list[PackItem]:
        """All packs: existing items, then new ones at the ends.

        Args:
            annotators: who gets a pack; others keep theirs as they are. Who was dropped gets nothing more, and others get their items.
        """
        has: dict[str, set[str]] = defaultdict(set)  # a thing -> who has it as it is now
        now = {thing.id: self.texts(thing) for block in blocks for thing in block}
        for item in given:
            if item.annotator not in dropped and now.get(item.pair_id) == item.texts:
                has[item.pair_id].add(item.annotator)
        of_block = {block.id: set[str]().union(*(has[thing.id] for thing in block)) for block in blocks}
        able = [name for name in annotators if name not in dropped]
        gets = shared_out(blocks, of_block, able, self.votes, self.seed)
        items = list(given)
        for annotator in able:
            own = [thing for block in blocks for thing in block if annotator in has[thing.id]]
            added = [
                Block(thing for thing in block if annotator not in has[thing.id])
                for block in blocks
                if annotator in of_block[block.id]
            ]
            new = [*gets[annotator], *filter(None, added)]
            things = [thing for block in new for thing in block]
            attention = self._more(own, things, [item for item in given if item.annotator == annotator])
            items += self._in_own_order([*new, *(Block((thing,)) for thing in attention)], annotator)
        return items

    def _more(self, own: Sequence[T], new: Sequence[T], given: Sequence[PackItem]) -> list[T]:
        """The attention items that an annotator lacks.

        Args:
            own: what they have already; new: what they get now.
            given: all items of theirs. An attention item whose texts were edited does not count.
        """
        made_of = ((item, self.of_item(item)) for item in given if item.attention)
        known = {item.pair_id for item, thing in made_of if thing is not None and item.texts == self.texts(thing)}
        total = len(own) + len(new)
        lacking = max(2, total // EVERY) - len(known) if total else 0
        items: list[T] = []
        for things in (new, own):  # those of persons who are judged for now come first
            for thing in sorted(things, key=lambda thing: drawn(self.seed, "attention", thing.id)):
                if (
                    len(items) < lacking
                    and f"{ATTENTION}{thing.id}" not in known
                    and (made := self.attention(thing)) is not None
                ):
                    items.append(made)
        return items

    def _in_own_order(self, blocks: Sequence[Block[T]], annotator: str) -> list[PackItem]:
        """Persons in a drawn order, and what is asked about each in one."""

        def order(block: Block[T]) -> tuple[float, str, float]:
            person = drawn(self.seed, "person", annotator, block.user_id)
            return person, block.user_id, drawn(self.seed, "order", annotator, block.id)

        return [self.item(thing, annotator) for block in sorted(blocks, key=order) for thing in block]


def names(count: int) -> list[str]:
    """The annotators of a build: `annotator-1` and so on."""
    return [f"annotator-{number}" for number in range(1, count + 1)]


def item_id(seed: int, annotator: str, thing: str, texts: Digests) -> str:
    """What a vote names. A letter comes first: a spreadsheet would round 694336221e70."""
    return f"i{digest_of((str(seed), annotator, thing, *texts))}"
