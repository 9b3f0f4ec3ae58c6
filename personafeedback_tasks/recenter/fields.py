"""One line of a file of judged rows, read strictly: a key that is missing, unknown or broken is named with its line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..common.errors import DataError
from ..common.strict_json import broken, short, short_list
from . import private

ROLES = ("system", "user", "assistant")

MOST_VOTES = 1000
"""More on one row are taken for a damaged number."""


class Message(NamedTuple):
    role: str
    content: str


class Fields:
    """The keys of one line, read strictly. What is broken raises DataError with the line.

    Attributes:
        id, user_id: as in JudgedRow.
    """

    def __init__(self, row: dict[str, Any], where: str) -> None:
        self._row, self._where = row, where
        self._read: set[str] = set()
        self.id, self.user_id = self._name("id"), self._name("user_id")

    def has(self, key: str) -> bool:
        return key in self._row

    def text(self, key: str) -> str:
        return self._text(key, self._value(key, "a string"))

    def word(self, key: str, known: tuple[str, ...]) -> str:
        expected = f"one of {', '.join(known)}"
        return self._checked(key, lambda value: isinstance(value, str) and value in known, expected)

    def boolean(self, key: str) -> bool:
        return self._checked(key, lambda value: isinstance(value, bool), "true or false")

    def whole(self, key: str, least: int, most: int) -> int:
        expected = f"a whole number from {least} to {most:,}"
        return self._checked(key, lambda value: type(value) is int and least <= value <= most, expected)

    def votes(self, is_vote: Callable[[Any], bool], known: str) -> tuple[Any, ...]:
        def right(value: object) -> bool:
            return isinstance(value, list) and 0 < len(value) <= MOST_VOTES and all(map(is_vote, value))

        return tuple(self._checked("votes", right, f"a list of {known}, 1 to {MOST_VOTES:,} of them"))

    def conversation(self, key: str) -> tuple[Message, ...]:
        expected = "a list of {role, content} with at least one message of the user"
        messages = self._value(key, expected)
        if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
            raise broken(self._where, f"{key} = {short(messages)}", expected)
        found = []
        for number, message in enumerate(messages, start=1):
            name = f"{key}, message {number}"
            if message.keys() != {"role", "content"} or message["role"] not in ROLES:
                raise broken(self._where, f"{name} = {short(message)}", f"a role ({', '.join(ROLES)}) and a content")
            found.append(Message(message["role"], self._text(name, message["content"])))
        if "user" not in [message.role for message in found]:
            raise broken(self._where, f"{key} without a message of the user", expected)
        return tuple(found)

    def one_of(self, *ways: tuple[str, ...]) -> tuple[str, ...]:
        """The way in which the judgment is given: which of these keys the line has. Exactly one."""
        given = [way for way in ways if any(map(self.has, way))]
        if len(given) == 1:
            return given[0]
        expected = " or ".join(" and ".join(map(repr, way)) for way in ways)
        keys = [key for way in given for key in way]
        found = f"the judgment {len(given)} times ({short_list(keys)})" if keys else f"no judgment ({self._keys()})"
        raise broken(self._where, found, f"{expected}, once")

    def refuse_others(self) -> None:
        if unknown := sorted(self._row.keys() - self._read):
            raise broken(self._where, f"the unknown key {short(unknown[0])}", f"only {', '.join(sorted(self._read))}")

    def _name(self, key: str) -> str:
        name = self.text(key)
        if any(char.isspace() or not char.isprintable() for char in name):
            raise broken(self._where, f"{key} = {short(name)}", "a name without spaces")
        return name

    def _text(self, name: str, value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise broken(self._where, f"{name} = {short(value)}", "a non-empty string")
        if personal := private.found(value):
            kind, start = personal
            raise DataError(
                f"{self._where}: found {kind} in {name} at character {start + 1}, expected no personal data. "
                "Put a placeholder such as [NAME] in its place, or remove this row."
            )
        return value

    def _checked(self, key: str, is_right: Callable[[Any], bool], expected: str) -> Any:
        value = self._value(key, expected)
        if not is_right(value):
            raise broken(self._where, f"{key} = {short(value)}", expected)
        return value

    def _value(self, key: str, expected: str) -> Any:
        if key not in self._row:
            raise broken(self._where, f"no {key!r} ({self._keys()})", f"{expected} {key!r}")
        self._read.add(key)
        return self._row[key]

    def _keys(self) -> str:
        return f"keys: {short_list(self._row) or 'none'}"
