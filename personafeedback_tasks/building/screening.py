"""Mail addresses and phone numbers in a team's profiles and memory. Patterns find no names and miss other things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..common import private
from ..common.records import broken, rows, short
from ..personafeedback import memory

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


class Piece(NamedTuple):
    """A line of a user's memory: its place, its keys that are in KEPT, and the text that prompts show."""

    where: str
    row: Mapping[str, str]
    text: str


def pieces(path: Path) -> list[Piece]:
    """The pieces of a memory file. Raises DataError for a broken line."""
    found = []
    for number, row in rows(path):
        where = f"{path}, line {number}"
        text = memory.text_of(row, where)
        if not isinstance(row.get("date", ""), str):
            raise broken(where, f"date = {short(row['date'])}", "a string")
        found.append(Piece(where, {key: row[key] for key in KEPT if key in row}, text))
    return found
