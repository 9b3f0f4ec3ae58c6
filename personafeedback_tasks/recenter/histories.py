"""Users, their conversations and new prompts: what the chain of stages begins with. Strict, as `data.py` is.

A folder has these files, one JSON object per line; any of those of `data.py` may be beside them:

    users.jsonl           user_id, language optional (en)
    conversations.jsonl   user_id, conversation [{role, content}], source (human or synthetic)
    prompts.jsonl         id, prompt, sensitive optional (true), users optional (their ids; else it is for everybody)

A conversation has no id of its own: it is `USER-` and 8 hex digits of its messages' SHA-256.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from ..common.records import NonEmpty, broken, one_of, short
from .data import Rows, each_if_there, each_once, in_turns, located
from .rows import SOURCES, Message, StageRow, conversation_id, record, transcript

USERS, CONVERSATIONS, PROMPTS = "users.jsonl", "conversations.jsonl", "prompts.jsonl"
LANGUAGES = ("en", "zh")
EVERYDAY, SENSITIVE = "everyday", "sensitive"


@dataclass(frozen=True)
class Conversation(StageRow):
    """One conversation of a user."""

    stage = "extract"
    cells = SOURCES
    messages: tuple[Message, ...]
    source: str
    spoken: str = field(default="en", compare=False)

    @property
    def question(self) -> str:
        """What the user said first."""
        return next(message.content for message in self.messages if message.role == "user")

    @property
    def cell(self) -> str:
        return self.source

    @property
    def language(self) -> str:
        return self.spoken

    @property
    def transcript(self) -> str:
        """The conversation as models read it."""
        return transcript(self.messages)


@dataclass(frozen=True)
class NewPrompt:
    """Something that users ask.

    Attributes:
        users: those who ask it; None for everybody.
    """

    id: NonEmpty
    prompt: NonEmpty
    sensitive: bool = False
    users: Annotated[tuple[NonEmpty, ...], Meta(min_length=1)] | None = None


@dataclass(frozen=True)
class ForPrompt(StageRow):
    """A user, a prompt, and attributes of the user.

    Attributes:
        id: `USER-PROMPT`.
    """

    cells = (EVERYDAY, SENSITIVE)
    prompt_id: str
    prompt: str
    sensitive: bool
    attributes: tuple[str, ...]

    @property
    def question(self) -> str:
        return self.prompt

    @property
    def cell(self) -> str:
        return SENSITIVE if self.sensitive else EVERYDAY

    @property
    def content(self) -> tuple[Any, ...]:
        return self.id, self.user_id, self.prompt, self.sensitive, self.attributes

    @property
    def facts(self) -> dict[str, Any]:
        """What a log says of it, see `made.py`."""
        names = ("prompt_id", "prompt", "sensitive")
        return {name: getattr(self, name) for name in names} | {"attributes": list(self.attributes)}


def conversations(data: str | None = None) -> Rows[Conversation]:
    """The conversations of all users. Users take turns, see `data.in_turns`.

    Raises:
        DataError: there is no such folder or file, or it is broken: a user that users.jsonl does not have, or a conversation twice.
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
    """One line of the conversations' file, of a user of any language. Raises DataError: it is broken."""
    line = record(where, row, _Line)
    return Conversation(conversation_id(line.user_id, line.conversation), line.user_id, line.conversation, line.source)


def prompts(folder: Path) -> list[NewPrompt]:
    """The prompts of a folder, in the order of their file; none without one."""
    return each_if_there(folder / PROMPTS, lambda row, where: record(where, row, NewPrompt))


@dataclass(frozen=True)
class _Line:
    """A line of the conversations' file."""

    user_id: NonEmpty
    conversation: tuple[Message, ...]
    source: Annotated[str, one_of(*SOURCES)]


@dataclass(frozen=True)
class _User:
    user_id: NonEmpty
    language: Annotated[str, one_of(*LANGUAGES)] = "en"

    @property
    def id(self) -> str:
        return self.user_id
