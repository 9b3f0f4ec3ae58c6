"""The orders in which the responses of a case are shown: every rotation, so that each response is once in each place.

All of them are always asked, so position bias cancels. With two responses these are both orders. The layout of every
prompt follows, the way back from it to the responses, and conversations for reward models.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ..core.rewards import Message
from ..parsing.answers import LETTERS

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Orders:
    """The orders of some responses: number k, from 0, shows the right one in place k, and the others turn with it."""

    letters: tuple[str, ...]  # of the places, from the first one on
    names: tuple[str, ...]
    sides: tuple[str, ...]  # of the responses, the right one first
    all_right: str  # the metric of a case that is right in every order
    places: tuple[str, ...]  # `first`, `second` and so on

    @cached_property
    def rates(self) -> tuple[str, ...]:
        """The metrics that are the share of readable picks of each place; of two, the first one says it all."""
        return tuple(f"{place}_rate" for place in (self.places if len(self.places) > 2 else self.places[:1]))

    @cached_property
    def biases(self) -> tuple[str, ...]:
        """The metrics that say whether every order picked the same place, one per place."""
        return tuple(f"bias_{place}" for place in self.places)

    @property
    def all_names(self) -> str:
        """All orders in words: `both orders`."""
        return "both orders" if len(self.names) == 2 else f"all {len(self.names)} orders"

    @property
    def all_sides(self) -> str:
        """All responses in words: `both responses`."""
        return "both responses" if len(self.sides) == 2 else f"all {len(self.sides)} responses"

    @property
    def chance(self) -> float:
        """The `acc` of a fair die, and of any judge that looks only at the order."""
        return 1 / len(self.letters)

    @cached_property
    def right(self) -> dict[str, str]:
        """Order -> the letter under which it shows the right response."""
        return dict(zip(self.names, self.letters, strict=True))

    def shown(self, responses: Sequence[T], order: str) -> tuple[T, ...]:
        """The responses, the right one first, as an order shows them, from the first place on."""
        at = len(responses) - self.names.index(order)
        return (*responses[at:], *responses[:at])

    def laid_out(self, told: str, question: str, responses: Sequence[str], order: str, ask: str) -> str:
        """The prompt of a case in one order; `responses`: the right one first.

        Texts of the data are inserted as values and never interpreted: braces, template syntax and chat tokens arrive
        unchanged.
        """
        at = len(responses) - self.names.index(order)
        blocks = [told, f"<question>\n{question}\n</question>"]
        for letter, text in zip(self.letters, (*responses[at:], *responses[:at]), strict=True):
            blocks.append(f"<response_{letter}>\n{text}\n</response_{letter}>")
        return "\n\n".join((*blocks, ask))

    def picks(self, answers: Sequence[str]) -> list[int | None]:
        """The response that each answer picks: 0 is the right one; None where the reply is unreadable."""
        count = len(self.letters)
        return [
            (self.letters.index(answer) - place) % count if answer in self.letters else None
            for place, answer in enumerate(answers)
        ]


TWO = Orders(
    letters=LETTERS,
    names=("chosen_first", "rejected_first"),
    sides=("chosen", "rejected"),
    all_right="acc_both",
    places=("first", "second"),
)
"""Both orders of two responses."""

_PLACES = ("first", "second", "third", "fourth")
_LETTERS = "ABCD"


def rotations(count: int) -> Orders:
    """The orders of `count` responses, 3 or 4."""
    if count not in (3, 4):
        raise ValueError(f"count must be 3 or 4, got {count}; TWO has the orders of two responses")
    letters = tuple(_LETTERS[:count])
    return Orders(
        letters=letters,
        names=tuple(f"right_at_{letter}" for letter in letters),
        sides=("right_response", *(f"wrong_response_{number}" for number in range(1, count))),
        all_right="acc_all",
        places=_PLACES[:count],
    )


# --- prompts and conversations ----------------------------------------------------------------------------------------

# Instructions, what is told about the user, question | response A, response B, ..., final ask. The part before the bar
# is the same in all orders, so that a server's prefix cache serves it.
#
# A reward model judges one response at a time, so no text has a question of ours or a letter. What it is told is a
# system turn; a chat template or a reader without system turns gets it before the question.

_LETTER = re.compile(r"^<response_([A-Z])>$", re.M)


def responses(prompt: str, orders: Orders) -> tuple[str, ...]:
    """The responses in a prompt, from the first place on; ValueError if it is not ours, or a text has our tags."""
    parts = []
    for letter in orders.letters:
        opening, closing = f"<response_{letter}>\n", f"\n</response_{letter}>"
        if prompt.count(opening) != 1 or prompt.count(closing) != 1:
            raise ValueError(f"expected exactly one {opening.strip()} ... {closing.strip()} in the prompt")
        parts.append(prompt.partition(opening)[2].partition(closing)[0])
    found = _LETTER.findall(prompt)
    if found != list(orders.letters):
        raise ValueError(f"expected the responses {', '.join(orders.letters)} in the prompt, found {', '.join(found)}")
    return tuple(parts)


def conversation(told: str, question: str, response: str) -> list[Message]:
    """The turns of one conversation; `told` is about the user, empty for nothing."""
    system: list[Message] = [{"role": "system", "content": told}] if told else []
    return [*system, {"role": "user", "content": question}, {"role": "assistant", "content": response}]
