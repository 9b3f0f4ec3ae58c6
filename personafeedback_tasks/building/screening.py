"""Mail addresses and phone numbers in a team's files, each named with its line. Patterns find no names and miss other things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..common import private
from ..common.errors import DataError
from ..common.records import broken, rows, short
from ..personafeedback import memory

NAMED = 5
"""Lines that a message names; it counts the others."""

KEPT = ("text", "role", "content", "date")
"""Keys of a piece of memory. Others could hold what no pattern knows, and are left out."""


def contacts(value: Any, where: str, key: str = "") -> Iterator[str]:
    """Contacts in parsed JSON, the first of each text: `users.jsonl, line 1: an e-mail address in Contact at ...`."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from contacts(inner, where, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from contacts(inner, where, key)
    elif isinstance(value, str) and (hit := private.contact_in(value)):
        yield f"{where}: {hit[0]} in {key} at character {hit[1] + 1}"


def pieces(path: Path) -> tuple[list[dict[str, str]], list[str]]:
    """(lines of a file of memory with only the keys in KEPT, their `contacts`). Raises DataError for a broken line."""
    memory.pieces(path)  # names what is broken
    lines, found = [], list[str]()
    for number, row in rows(path):
        where = f"{path}, line {number}"
        if not isinstance(row.get("date", ""), str):
            raise broken(where, f"date = {short(row['date'])}", "a string")
        lines.append({key: row[key] for key in KEPT if key in row})
        found += contacts(lines[-1], where)
    return lines, found


def refuse(found: Sequence[str]) -> None:
    """Raise DataError if there are `contacts`."""
    if found:
        raise DataError(
            f"found personal data, expected none: {named(found)}. Remove these. Patterns find no names and miss other things, so read your files, too."
        )


def named(found: Sequence[str]) -> str:
    """The first `contacts`, and how many more there are."""
    more = [f"and {len(found) - NAMED:,} more"] if len(found) > NAMED else []
    return "; ".join([*found[:NAMED], *more])
