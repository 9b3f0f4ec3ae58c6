"""Personal data in what a team brings: named with their line, or replaced by placeholders.

They are found by patterns, see `common.private`, which neither know names nor find all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..common import private
from ..common.errors import DataError
from ..common.records import broken, rows, short
from ..personafeedback.rag import memory

NAMED = 5
"""Lines with personal data that a message names; it counts the others."""

KEPT = ("text", "role", "content", "date")
"""Keys of a piece of memory. Others could hold what no pattern knows, and are left out."""


class Screen:
    """Looks for personal data, and notes each line that has some.

    Attributes:
        redacted: kind of personal data -> how many were found, and have a placeholder.
    """

    def __init__(self, redact: bool):
        self._redact = redact
        self.redacted: Counter[str] = Counter()
        self._lines: list[str] = []

    def value(self, value: Any, where: str, key: str = "") -> Any:
        """Parsed JSON, with placeholders if these are wanted."""
        if isinstance(value, Mapping):
            return {
                name: self.value(inner, where, f"{key}.{name}" if key else str(name)) for name, inner in value.items()
            }
        if isinstance(value, list):
            return [self.value(inner, where, key) for inner in value]
        if not isinstance(value, str) or not (hit := private.first_in(value)):
            return value
        text, counts = private.redacted(value)
        self.redacted += counts
        self._lines.append(f"{where}: {hit[0]} in {key} at character {hit[1] + 1}")
        return text

    def pieces(self, path: Path) -> list[dict[str, str]]:
        """The lines of a file of memory, with KEPT alone. Raises DataError: one is no piece."""
        memory.pieces(path)  # names what is broken
        lines = []
        for number, row in rows(path):
            where = f"{path}, line {number}"
            if not isinstance(row.get("date", ""), str):
                raise broken(where, f"date = {short(row['date'])}", "a string")
            lines.append(self.value({key: row[key] for key in KEPT if key in row}, where))
        return lines

    def refuse(self) -> None:
        """Raise DataError if there are personal data that nobody wants replaced."""
        if self._lines and not self._redact:
            placeholders = ", ".join(private.PLACEHOLDERS.values())
            raise DataError(
                f"found personal data, expected none: {self.named()}. Remove these, or pass --redact to put {placeholders} in their place. "
                "Patterns find no names and miss other things, so read your files, too."
            )

    def named(self) -> str:
        """The first lines with personal data, and how many more there are; empty if there are none."""
        more = [f"and {len(self._lines) - NAMED:,} more"] if len(self._lines) > NAMED else []
        return "; ".join([*self._lines[:NAMED], *more])
