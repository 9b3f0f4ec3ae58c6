"""How long annotators take: from the words that they read. An estimate, which sessions and the plan go by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...common.tokens import estimated

WORDS_PER_MINUTE = 200
"""Of careful reading."""

WORDS_PER_TOKEN = 0.75

DECIDING = 10 / 60
"""Minutes to decide, on top of reading."""

SESSION = 60
"""Minutes after which a session ends; between two persons it ends up to a quarter earlier, or later."""


def minutes(tokens: float, items: float = 1, words_per_minute: float = WORDS_PER_MINUTE) -> float:
    """To read so many tokens and decide on so many items."""
    return tokens * WORDS_PER_TOKEN / words_per_minute + items * DECIDING


def minutes_of(items: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
    """The minutes of each item in a pack's order.

    Args:
        items: (the text about the person, which is read once as long as it does not change; the other texts).
    """
    before = ""
    taken = []
    for person, texts in items:
        read = [*texts, *([person] if person != before else [])]
        taken.append(minutes(sum(estimated(read))))
        before = person
    return taken


def sessions(groups: Iterable[Sequence[float]]) -> list[int]:
    """The number of the session of each item, from 1.

    Args:
        groups: the minutes of the items, those of one person after another.
    """
    numbers: list[int] = []
    session, spent = 1, 0.0
    for group in groups:
        if spent >= 0.75 * SESSION and spent + sum(group) > 1.25 * SESSION:
            session, spent = session + 1, 0.0
        for taken in group:
            if spent >= SESSION:
                session, spent = session + 1, 0.0
            numbers.append(session)
            spent += taken
    return numbers
