"""The layout of every prompt about a choice and the way back to the responses, and conversations for reward models."""

# Instructions, what is told about the user, question | response A, response B, ..., final ask. The part before the bar
# is the same in all orders, so that a server's prefix cache serves it.
#
# A reward model judges one response at a time, so no text has a question of ours or a letter. What it is told is a
# system turn; a chat template or a reader without system turns gets it before the question.

from __future__ import annotations

import re
from collections.abc import Sequence

from ..core.rewards import Message
from .orders import Orders

_LETTER = re.compile(r"^<response_([A-Z])>$", re.M)


def laid_out(told: str, question: str, shown: Sequence[str], ask: str, orders: Orders) -> str:
    """A prompt. Texts of the data are inserted as values and never interpreted."""
    # Braces, template syntax and chat tokens arrive unchanged.
    blocks = [f"<question>\n{question}\n</question>"]
    blocks += [
        f"<response_{letter}>\n{text}\n</response_{letter}>" for letter, text in zip(orders.letters, shown, strict=True)
    ]
    return "\n\n".join((told, *blocks, ask))


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
