"""The layout of every prompt about a choice, and the way back from a prompt to its responses.

Instructions, what is told about the user, question | response A, response B, ..., final ask. The part before the bar is the same in
all orders, so that a server's prefix cache serves it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .orders import Orders


def laid_out(told: str, question: str, shown: Sequence[str], ask: str, orders: Orders) -> str:
    """A prompt. Texts of the data are inserted as values and never interpreted: braces, template syntax and chat tokens arrive unchanged.

    Args:
        told: the instructions, and what is told about the user.
        shown: the responses from the first place on, see `Orders.shown`.
        ask: the last words.
    """
    blocks = [f"<question>\n{question}\n</question>"]
    blocks += [
        f"<response_{letter}>\n{text}\n</response_{letter}>" for letter, text in zip(orders.letters, shown, strict=True)
    ]
    return "\n\n".join((told, *blocks, ask))


def responses(prompt: str, orders: Orders) -> tuple[str, ...]:
    """The responses in a prompt, from the first place on.

    Raises:
        ValueError: the prompt is not one of ours, or a text of the data contains our tags, which makes the parts ambiguous.
    """
    parts = []
    for letter in orders.letters:
        opening, closing = f"<response_{letter}>\n", f"\n</response_{letter}>"
        if prompt.count(opening) != 1 or prompt.count(closing) != 1:
            raise ValueError(f"expected exactly one {opening.strip()} ... {closing.strip()} in the prompt")
        parts.append(prompt.partition(opening)[2].partition(closing)[0])
    return tuple(parts)
