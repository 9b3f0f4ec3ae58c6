"""Conversations in WildChat's layout -> users and their conversations.

The layout is that of the data cards of WildChat-1M and WildChat-4.8M, as lines of JSON: conversation_hash, language,
conversation [{role, content}] and hashed_ip, which stands for a user. Other keys are ignored, but for `toxic`. **Not verified**: it was
written from the cards alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct

from ..common.records import NonEmpty, decoded, one_of, rows
from .fields import ROLES, Message
from .histories import CONVERSATIONS, USERS, conversation_id
from .upstream import ImportedAnnotations

LANGUAGES = {"English": "en", "Chinese": "zh"}
"""Their names -> ours."""


class _Turn(Struct):
    role: Annotated[str, one_of(*ROLES)]
    content: str | None


class _Chat(Struct):
    hashed_ip: NonEmpty
    conversation: tuple[_Turn, ...]


def convert(path: Path, language: str, least: int) -> ImportedAnnotations:
    """Read conversations.

    Args:
        path: lines of JSON.
        language: of LANGUAGES; conversations in others are left out.
        least: conversations that a user must have.

    Raises:
        DataError: a line is broken.
    """
    made = ImportedAnnotations()
    for number, line in rows(path):
        where = f"{path}, line {number}"
        if why := _why_not(line, language):
            made.left_out[why] += 1
            continue
        chat = decoded(where, line, _Chat)
        user = made.users.of(chat.hashed_ip)
        turns = [{"role": turn.role, "content": turn.content or ""} for turn in chat.conversation]
        kept = [turn for turn in turns if turn["content"].strip()]
        if len(kept) < len(turns) or "user" not in {turn["role"] for turn in kept}:
            made.left_out["with an empty message, or none of the user"] += 1
            continue
        row = {"user_id": user, "conversation": kept, "source": "human"}
        made.add(CONVERSATIONS, row, where)
    own: dict[str, dict[str, Any]] = {}
    for one in made.files.pop(CONVERSATIONS, []):
        of_user = own.setdefault(one["user_id"], {})
        name = conversation_id(one["user_id"], [Message(**turn) for turn in one["conversation"]])
        made.left_out["that a user has twice"] += name in of_user
        of_user.setdefault(name, one)
    users = {user: of_user for user, of_user in own.items() if len(of_user) >= least}
    made.left_out[f"of users with fewer than {least}"] += sum(map(len, own.values())) - sum(map(len, users.values()))
    if users:
        made.files[USERS] = [{"user_id": user, "language": LANGUAGES[language]} for user in users]
        made.files[CONVERSATIONS] = [row for of_user in users.values() for row in of_user.values()]
    made.left_out = +made.left_out
    return made


def _why_not(row: Mapping[str, Any], language: str) -> str:
    if row.get("language") != language:
        return f"in another language than {language}"
    return "marked as toxic" if row.get("toxic") is True else ""
