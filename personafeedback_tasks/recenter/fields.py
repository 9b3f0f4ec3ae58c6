"""One JSON object that strangers wrote, read strictly: a key that is missing, unknown or broken is named with its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..common import private, records
from ..common.errors import DataError
from ..common.records import short, short_list

ROLES = ("system", "user", "assistant")

MOST_VOTES = 1000
"""More on one row are taken for a damaged number."""


T = TypeVar("T")


class Message(NamedTuple):
    role: str
    content: str


class Fields:
    """The keys of one object. What is broken raises DataError with the line.

    Attributes:
        where: the file, and the place in it.
    """

    def __init__(self, row: dict[str, Any], where: str) -> None:
        self.row, self.where = row, where
        self._read: set[str] = set()

    def broken(self, found: object, expected: str) -> DataError:
        return records.broken(self.where, found, expected)

    def value(self, key: str, expected: str = "the key") -> Any:
        if key not in self.row:
            raise self.broken(f"no {key!r} ({self._keys()})", f"{expected} {key!r}")
        self._read.add(key)
        return self.row[key]

    def given(self, key: str, read: Callable[[str], T], default: T) -> T:
        """What a reader makes of a key that may be absent."""
        return read(key) if key in self.row else default

    def checked(self, key: str, is_right: Callable[[Any], object], expected: str) -> Any:
        value = self.value(key, expected)
        if not is_right(value):
            raise self.broken(f"{key} = {short(value)}", expected)
        return value

    def text(self, key: str) -> str:
        return str(self.checked(key, lambda value: isinstance(value, str) and value.strip(), "a non-empty string"))

    def word(self, key: str, known: tuple[str, ...]) -> str:
        return str(self.checked(key, lambda value: value in known, f"one of {', '.join(known)}"))

    def boolean(self, key: str) -> bool:
        return bool(self.checked(key, lambda value: isinstance(value, bool), "true or false"))

    def whole(self, key: str, least: int, most: int) -> int:
        expected = f"a whole number from {least} to {most:,}"
        return int(self.checked(key, lambda value: type(value) is int and least <= value <= most, expected))

    def objects(self: F, key: str, each: str) -> list[F]:
        """The objects of a list. Messages call one of them `each`, with its number from 1."""
        items = self.checked(
            key, lambda value: isinstance(value, list) and {*map(type, value)} <= {dict}, "a list of objects"
        )
        return [type(self)(item, f"{self.where}, {each} {number}") for number, item in enumerate(items, start=1)]

    def refuse_others(self) -> None:
        if unknown := sorted(self.row.keys() - self._read):
            raise self.broken(f"the unknown key {short(unknown[0])}", f"only {', '.join(sorted(self._read))}")

    def _keys(self) -> str:
        return f"keys: {short_list(self.row) or 'none'}"


F = TypeVar("F", bound=Fields)


def lines(path: Path) -> Iterator[Fields]:
    """The objects of a JSONL file."""
    for number, row in records.rows(path):
        yield Fields(row, f"{path}, line {number}")


class RowFields(Fields):
    """One line of a file of judged rows. No text of it has personal data."""

    def text(self, key: str) -> str:
        text = super().text(key)
        if personal := private.first_in(text):
            kind, start = personal
            raise DataError(
                f"{self.where}: found {kind} in {key} at character {start + 1}, expected no personal data. "
                "Put a placeholder such as [NAME] in its place, or remove this row."
            )
        return text

    def names(self) -> tuple[str, str]:
        """(id, user_id), as in JudgedRow."""
        return self.name("id"), self.name("user_id")

    def name(self, key: str) -> str:
        name = self.text(key)
        if any(char.isspace() or not char.isprintable() for char in name):
            raise self.broken(f"{key} = {short(name)}", "a name without spaces")
        return name

    def texts(self, key: str) -> tuple[str, ...]:
        def right(value: object) -> bool:
            return (
                isinstance(value, list)
                and bool(value)
                and all(isinstance(item, str) and item.strip() for item in value)
            )

        return tuple(self.checked(key, right, "a list of non-empty strings"))

    def votes(self, is_vote: Callable[[Any], bool], known: str) -> tuple[Any, ...]:
        def right(value: object) -> bool:
            return isinstance(value, list) and len(value) <= MOST_VOTES and all(map(is_vote, value))

        return tuple(self.checked("votes", right, f"a list of {known}, at most {MOST_VOTES:,} of them"))

    def conversation(self, key: str) -> tuple[Message, ...]:
        messages = []
        for message in self.objects(key, "message"):
            messages.append(Message(message.word("role", ROLES), message.text("content")))
            message.refuse_others()
        if "user" not in [message.role for message in messages]:
            raise self.broken(f"{key} without a message of the user", "at least one")
        return tuple(messages)

    def judged_by(self, *ways: tuple[str, ...]) -> tuple[str, ...]:
        """The keys that give the judgment, of those that could. Exactly one way must be there."""
        given = [way for way in ways if self.row.keys() & set(way)]
        if len(given) == 1:
            return given[0]
        expected = " or ".join(" and ".join(map(repr, way)) for way in ways)
        keys = [key for way in given for key in way]
        found = f"the judgment {len(given)} times ({short_list(keys)})" if keys else f"no judgment ({self._keys()})"
        raise self.broken(found, f"{expected}, once")
