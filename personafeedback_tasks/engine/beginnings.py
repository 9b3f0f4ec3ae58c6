"""How much of the prompts of a run repeats the beginning of an earlier one: what a server's prefix cache can keep."""

from __future__ import annotations

from collections.abc import Iterable


def repeated(texts: Iterable[str]) -> int:
    """How many characters of the texts belong to a beginning that an earlier text has, too: all but those of their trie."""
    found, before = 0, ""
    for text in sorted(texts):
        found += _common(before, text)
        before = text
    return found


def _common(one: str, other: str) -> int:
    """The length of the beginning that both have."""
    same, different = 0, min(len(one), len(other)) + 1
    while different - same > 1:
        middle = (same + different) // 2
        same, different = (middle, different) if one[:middle] == other[:middle] else (same, middle)
    return same
