"""What people are asked about a thing, before it is anybody's item: the same for all of them, but for the sides and the order of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..engine.cases import digest_of
from .items import Item

SIDES = ("first", "second")
"""The options of a question, in its own order."""


@dataclass(frozen=True, kw_only=True)
class ItemQuestion(Item):
    """A question, and what an answer to it means. Its options are in an order that says nothing.

    Attributes:
        user_id: of the person whom it is about.
        kind: those of one kind share a guideline, and go into one pack.
        block: questions of one block go to the same people, one after another.
        mirrored: answer -> the same one where the options are shown the other way round; empty if there are none.
        expected: an attentive annotator gives any of these answers, or ticks at least this; empty unless it is asked for attention.
    """

    user_id: str
    kind: str
    block: str
    mirrored: Mapping[str, str] = field(default_factory=dict)
    expected: Sequence[str] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of all that is shown."""
        return digest_of((self.asks, [*self.texts.items()], [*self.options], [*self.answers.items()]))

    def item(self, name: str, swapped: bool, order: Sequence[str]) -> Item:
        """As an annotator sees it.

        Args:
            name: of the item.
            swapped: the second option comes first.
            order: of the answers.
        """
        options = tuple(reversed(self.options)) if swapped else tuple(self.options)
        answers = {answer: self.answers[answer] for answer in order}
        return Item(
            id=name, texts=self.texts, options=options, answers=answers, several=self.several, noted=self.noted, asks=self.asks
        )  # fmt: skip

    def meant(self, answer: str, swapped: bool) -> str:
        """What an answer says of the options in the question's own order."""
        return self.mirrored.get(answer, answer) if swapped else answer


def is_attentive(expected: str, answer: str) -> bool:
    """Whether an answer is what somebody attentive gives.

    Args:
        expected: `ItemQuestion.expected` with ` | ` between them.
    """
    ticked = set(answer.split())
    return any(set(one.split()) <= ticked for one in expected.split(" | "))
