"""Users and their conversations, with which the chain of stages begins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from ..common.records import NonEmpty, broken, one_of, short
from .data import Rows, each_once, in_turns, located
from .rows import SOURCES, Message, StageRow, conversation_id, first_of_user, record, transcript

USERS, CONVERSATIONS = "users.jsonl", "conversations.jsonl"


@dataclass(frozen=True)
class Conversation(StageRow):
    stage = "extract"
    cells = SOURCES
    conversation: tuple[Message, ...]
    source: str
    spoken: str = field(default="en", compare=False)

    @property
    def question(self) -> str:
        return first_of_user(self.conversation)

    @property
    def cell(self) -> str:
        return self.source

    @property
    def language(self) -> str:
        return self.spoken

    @property
    def transcript(self) -> str:
        return transcript(self.conversation)


def conversations(data: str | None = None) -> Rows[Conversation]:
    """The conversations of all users, who take turns.

    Raises:
        DataError: the data are missing or broken: for example a user that users.jsonl lacks, or a conversation twice.
    """
    folder, source = located(data, [USERS, CONVERSATIONS])
    languages = {
        user.id: user.language for user in each_once(folder / USERS, lambda row, where: record(where, row, _User))
    }

    def parsed(row: dict[str, Any], where: str) -> Conversation:
        made = parse_conversation(row, where)
        if made.user_id not in languages:
            raise broken(where, f"user_id = {short(made.user_id)}", f"one of the users of {USERS}")
        return replace(made, spoken=languages[made.user_id])

    return Rows(tuple(in_turns(each_once(folder / CONVERSATIONS, parsed))), Conversation, source)


def parse_conversation(row: dict[str, Any], where: str) -> Conversation:
    """One line of the conversations' file, of a user of any language."""
    line = record(where, row, _Line)
    return Conversation(conversation_id(line.user_id, line.conversation), line.user_id, line.conversation, line.source)


@dataclass(frozen=True)
class _Line:
    user_id: NonEmpty
    conversation: tuple[Message, ...]
    source: Annotated[str, one_of(*SOURCES)]


@dataclass(frozen=True)
class _User:
    user_id: NonEmpty
    language: Annotated[str, one_of("en", "zh")] = "en"

    @property
    def id(self) -> str:
        return self.user_id
