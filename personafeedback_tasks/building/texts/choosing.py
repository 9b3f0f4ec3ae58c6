"""A numbered list in a prompt, and the choice from it in the reply."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

NO_NUMBERS = "no_numbers"
"""Why a choice is refused: it names nothing that was shown."""

_PLACED = re.compile(r"\W*([0-9]{1,6})[.):、．]\W*([0-9]{1,6})(?=\W*\Z|[\s*_]*[-–—.):、．]\s*[^\W\d])")
_COPIED = re.compile(r"\W*([0-9]{1,6})[.):、．].*[^\W\d_]")
"""Lines of a reply: the place of a choice and its number; the number of a choice and its text."""

C = TypeVar("C")


def listed(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def chosen(shown: Sequence[C], reply: str) -> list[C]:
    """What a model chose, in its order; numbers that nothing has are left out."""
    return [shown[number - 1] for number in dict.fromkeys(numbers(reply)) if 1 <= number <= len(shown)]


def numbers(reply: str) -> list[int]:
    """The numbers that a model chose, in its order."""
    lines = [line for line in reply.splitlines() if line.strip()]
    placed = [choice for line in lines if (choice := _PLACED.match(line))]
    if len(placed) == len(lines) and [int(choice[1]) for choice in placed] == list(range(1, len(lines) + 1)):
        return [int(choice[2]) for choice in placed]
    found: list[str] = []
    for line in lines:
        copied = _COPIED.match(line)
        found += [copied[1]] if copied else re.findall(r"[0-9]{1,6}", line)
    return [int(number) for number in found]
