"""Mail addresses and phone numbers in a team's profiles and memory. Patterns find no names and miss other things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..common import private
from ..common.errors import DataError
from ..common.records import broken, rows, short
from ..personafeedback import memory

NAMED = 5
"""Contacts that a message names; it counts the others."""

KEPT = ("text", "role", "content", "date")
"""Keys of a piece of memory. Others could hold what no pattern knows: they are not released."""


def contacts(value: Any, where: str, key: str = "") -> Iterator[str]:
    """Contacts in parsed JSON, the first of each text: `persona/u1.json: an e-mail address in Contact at ...`."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from contacts(inner, where, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from contacts(inner, where, key)
    elif isinstance(value, str) and (hit := private.contact_in(value)):
        yield f"{where}: {hit[0]} in {key} at character {hit[1] + 1}"


def pieces(path: Path) -> dict[str, dict[str, str]]:
    """Place -> line of a file of memory, with only the keys in KEPT. Raises DataError for a broken line."""
    memory.pieces(path)  # names what is broken
    found = {}
    for number, row in rows(path):
        where = f"{path}, line {number}"
        if not isinstance(row.get("date", ""), str):
            raise broken(where, f"date = {short(row['date'])}", "a string")
        found[where] = {key: row[key] for key in KEPT if key in row}
    return found


def refuse(found: Sequence[str]) -> None:
    """Raise DataError if there are `contacts`."""
    if found:
        more = [f"and {len(found) - NAMED:,} more"] if len(found) > NAMED else []
        raise DataError(
            f"found personal data, expected none: {'; '.join([*found[:NAMED], *more])}. Remove these. Patterns find "
            "no names and miss other things, so read your files, too."
        )
