"""One line of a file of rows as a record, read strictly: a key that is missing, unknown or broken is named with its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, NamedTuple, TypeVar

from msgspec import Struct

from ..common import private
from ..common.errors import DataError
from ..common.records import NonEmpty, broken, decoded, leaves, one_of, short

ROLES = ("system", "user", "assistant")

MOST_VOTES = 1000
"""More on one row are taken for a damaged number."""

K = TypeVar("K")


class Message(NamedTuple):
    role: str
    content: str


class _Message(Struct, forbid_unknown_fields=True):
    role: Annotated[str, one_of(*ROLES)]
    content: NonEmpty


def record(where: str, row: Mapping[str, Any], kind: type[K]) -> K:
    """A line as a dataclass; a field that is not compared is no key of it.

    Args:
        where: the file, and the place in it.

    Raises:
        DataError: it is broken, has a key that does not belong, or holds personal data.
    """
    known = [field.name for field in fields(kind) if field.compare]  # type: ignore[arg-type]
    if unknown := sorted(row.keys() - set(known)):
        raise broken(where, f"the unknown key {short(unknown[0])}", f"only {', '.join(known)}")
    found = decoded(where, row, kind)
    _refuse_personal(where, row)
    for key in ("id", "user_id"):
        if any(char.isspace() or not char.isprintable() for char in row.get(key, "")):
            raise broken(where, f"{key} = {short(row[key])}", "a name without spaces")
    return found


def with_conversation(where: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """A line with its conversation as messages.

    Raises:
        DataError: the conversation is broken, has no message of the user, or holds personal data.
    """
    turns, messages = row.get("conversation"), []
    for number, turn in enumerate(turns if isinstance(turns, list) else (), start=1):
        place = f"{where}, message {number}"
        message = decoded(place, turn, _Message)
        _refuse_personal(place, turn)
        messages.append(Message(message.role, message.content))
    if isinstance(turns, list) and "user" not in [message.role for message in messages]:
        raise broken(where, "conversation without a message of the user", "at least one")
    return {**row, "conversation": messages} if isinstance(turns, list) else dict(row)


def _refuse_personal(where: str, row: Mapping[str, Any]) -> None:
    for key, value in row.items():
        for text in leaves(value):
            if isinstance(text, str) and (personal := private.first_in(text)):
                kind, start = personal
                raise DataError(
                    f"{where}: found {kind} in {key} at character {start + 1}, expected no personal data. "
                    "Put a placeholder such as [NAME] in its place, or remove this row."
                )
