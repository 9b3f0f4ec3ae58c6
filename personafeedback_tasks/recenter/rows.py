"""Rows that people judged, one type per stage: the texts that they saw, and their judgment.

Judgments are votes, one per person in no particular order, or the label alone where only that is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from ..annotation.items import FAULTS
from ..common import private
from ..common.outputs import jsonable
from ..common.records import NonEmpty, broken, decoded, leaves, one_of, short_list
from ..common.text import same_text
from ..core.cases import digest_of

ACCEPTED = "accepted"
VERDICTS = (ACCEPTED, "uncertain", "rejected")
SOURCES = ("human", "synthetic")
Verdict = Annotated[str, one_of(*VERDICTS)]
Source = Annotated[str, one_of(*SOURCES)]
SCALE = (1, 2, 3, 4, 5)
"""How the personalized response compares with the generic one: 3 is no difference, 5 much better."""

JUDGED = ("label", "votes", "faults", "missing")
"""Keys of people's judgments."""

S = TypeVar("S", bound="StageRow")
R = TypeVar("R", bound="JudgedRow")


class Message(Struct, frozen=True, forbid_unknown_fields=True):
    role: Annotated[str, one_of("system", "user", "assistant")]
    content: NonEmpty


class StageRow(Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """One row of a stage: a case. Its fields are the keys of a line."""

    stage: ClassVar[str]
    file: ClassVar[str] = ""
    cells: ClassVar[tuple[str, ...]]  # of its rows, in the order of tables
    id: NonEmpty
    user_id: NonEmpty

    @classmethod
    def parse(cls: type[S], row: dict[str, Any], where: str) -> S:
        """One line of the stage's file."""
        return decoded(where, row, cls)

    @property
    def question(self) -> str:
        raise NotImplementedError

    @property
    def cell(self) -> str:
        return self.cells[0]

    @property
    def language(self) -> str:
        return "en"

    @cached_property
    def digest(self) -> str:
        """Of the id, the user, every text and the judgment that models are scored against."""
        values = {name: getattr(self, name) for name in self.__struct_fields__ if name not in ("faults", "missing")}
        if "votes" in values:
            values["votes"] = sorted(values["votes"])
        return digest_of((self.stage, *map(jsonable, values.values())))


class _OfConversation:
    """What rows about a conversation share, which has a message of the user."""

    cells: ClassVar[tuple[str, ...]] = SOURCES
    user_id: str
    conversation: tuple[Message, ...]
    source: str

    def __post_init__(self) -> None:
        if "user" not in [message.role for message in self.conversation]:
            raise ValueError("conversation without a message of the user, expected at least one")

    @property
    def cell(self) -> str:
        return self.source

    @property
    def conversation_id(self) -> str:
        """`USER-` and 8 hex digits of the messages."""
        messages = [(message.role, message.content) for message in self.conversation]
        return f"{self.user_id}-{digest_of(messages)[:8]}"

    @property
    def transcript(self) -> str:
        return "\n\n".join(f"{message.role}: {message.content}" for message in self.conversation)


class Conversation(_OfConversation, StageRow, frozen=True):
    """What a user and an assistant said to each other: the chain of stages begins with it."""

    stage = "extract"
    file = "conversations.jsonl"
    conversation: tuple[Message, ...]
    source: Source
    missing: tuple[tuple[NonEmpty, ...], ...] = ()  # attributes that each person who was asked missed

    @classmethod
    def parse(cls, row: dict[str, Any], where: str) -> Conversation:
        """One line of the file of conversations, which has no id: the messages determine it."""
        found = decoded(where, {"id": "from-messages", **row}, Conversation)
        return replace(found, id=found.conversation_id)

    @property
    def question(self) -> str:
        return next(message.content for message in self.conversation if message.role == "user")


class JudgedRow(StageRow, frozen=True):
    """One row that people judged."""

    @classmethod
    def parse(cls: type[R], row: dict[str, Any], where: str) -> R:
        """One line of the stage's file."""
        given = [key for key in ("label", "votes") if row.get(key) is not None]
        if "label" in cls.__struct_fields__ and len(given) != 1:
            found = "both label and votes" if given else f"no judgment (keys: {short_list(row)})"
            raise broken(where, found, "label or votes, once")
        return decoded(where, row, cls)

    @property
    def judgment(self) -> float | None:
        """People's judgment; None if nothing can be scored against it."""
        raise NotImplementedError


class _Labeled:
    """What rows with a label share, which says whether something holds."""

    label: Any
    votes: tuple[Any, ...]

    def holds(self, label: Any) -> bool:
        """Whether a label, or a vote for it, says so."""
        return bool(label)

    @property
    def verdicts(self) -> tuple[bool, ...]:
        """What each person said."""
        return tuple(map(self.holds, self.votes))

    @property
    def judgment(self) -> bool | None:
        """The majority's answer; None for tied votes."""
        verdicts = self.verdicts or (() if self.label is None else (self.holds(self.label),))
        yes, no = verdicts.count(True), verdicts.count(False)
        return None if yes == no else yes > no


class PromptRow(JudgedRow, frozen=True):
    """A row about one attribute of the user and a prompt."""

    prompt: NonEmpty
    attribute: NonEmpty

    @property
    def question(self) -> str:
        return self.prompt


class Relevance(_Labeled, PromptRow, frozen=True):
    """Should this attribute of the user change the reply to this prompt in any way?"""

    stage = "relevance"
    file = "relevance.jsonl"
    cells = ("relevance",)
    label: bool | None = None
    votes: tuple[bool, ...] = ()


class Extraction(_OfConversation, _Labeled, JudgedRow, frozen=True):
    """Is this attribute, extracted from this conversation for this reason, problematic: uncertain or rejected?"""

    stage = "extraction"
    file = "extraction.jsonl"
    conversation: tuple[Message, ...]
    attribute: NonEmpty
    reason: NonEmpty
    source: Source
    label: Verdict | None = None
    votes: tuple[Verdict, ...] = ()

    def holds(self, label: str) -> bool:
        return label != ACCEPTED

    @property
    def question(self) -> str:
        return self.attribute


class Faults(Struct, frozen=True, forbid_unknown_fields=True):
    """Each fault of FAULTS -> how many of the people asked find it in a response."""

    asked: Annotated[int, Meta(ge=1)]
    generic: dict[str, int]
    personalized: dict[str, int]

    def __post_init__(self) -> None:
        for side, counts in (("generic", self.generic), ("personalized", self.personalized)):
            if counts.keys() != {*FAULTS} or not all(0 <= count <= self.asked for count in counts.values()):
                each = " and ".join(FAULTS)
                raise ValueError(f"in {side} how many of the {self.asked} people asked find it {each}")


class Response(PromptRow, frozen=True):
    """Is the personalized response, which uses the attribute, better than the generic one? Votes are on SCALE."""

    stage = "response"
    file = "response.jsonl"
    cells = ("response_pairs",)
    generic: NonEmpty
    personalized: NonEmpty
    votes: tuple[Annotated[int, Meta(ge=SCALE[0], le=SCALE[-1])], ...] = ()
    faults: Faults | None = None

    @property
    def judgment(self) -> float | None:
        """Mean of the votes; None without votes."""
        return sum(self.votes) / len(self.votes) if self.votes else None

    @property
    def found(self) -> dict[str, tuple[str, ...]]:
        """`generic` and `personalized` -> faults that at least half of the people asked find; {} if nobody was."""
        if self.faults is None:
            return {}
        asked, sides = self.faults.asked, {"generic": self.faults.generic, "personalized": self.faults.personalized}
        return {side: tuple(fault for fault in counts if 2 * counts[fault] >= asked) for side, counts in sides.items()}


STAGES: tuple[type[JudgedRow], ...] = (Extraction, Relevance, Response)
"""In the order of a personalized reply: what is known of the user, what matters now, what comes of it."""


def text_id(about: str, *texts: str) -> str:
    """An id that follows from the texts, so that rows that several models made alike are one."""
    return f"{about}-{digest_of(list(map(same_text, texts)))}"


def personal_in(row: Mapping[str, Any]) -> str | None:
    """The first mail address or phone number in a row, in words and without repeating it; None without any."""
    for key, value in row.items():
        for text in leaves(value):
            if isinstance(text, str) and (found := private.contact_in(text)):
                return f"{found[0]} in {key}"
    return None
