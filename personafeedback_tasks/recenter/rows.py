"""What people judged, one type of row per stage: the texts that they saw, and their judgment.

Judgments are votes, one per person in no particular order, or the label alone where only that is known.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar

from ..common.errors import DataError
from ..common.strict_json import broken, short, short_list
from ..engine.cases import digest_of
from . import private

ACCEPTED = "accepted"
VERDICTS = (ACCEPTED, "uncertain", "rejected")
SOURCES = ("human", "synthetic")
ROLES = ("system", "user", "assistant")
SCALE = (1, 2, 3, 4, 5)
"""How the personalized response compares with the generic one: 3 is no difference, 5 much better."""

MOST_VOTES = 1000
"""More on one row are taken for a damaged number."""


@dataclass(frozen=True)
class Row(ABC):
    """One judged row of a stage: a case of the engine.

    Attributes:
        stage: its name, and that of its file.
        cells: those that its rows are in, in the order of tables.
        id: unique in its stage; opaque.
        user_id: whose attribute it is; opaque.
    """

    stage: ClassVar[str]
    cells: ClassVar[tuple[str, ...]]
    id: str
    user_id: str

    @property
    def cell(self) -> str:
        return self.cells[0]

    @property
    def language(self) -> str:
        return "en"

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of the id, the user, every text and people's judgment."""
        return digest_of((self.stage, self.id, self.user_id, *self.content))

    @property
    @abstractmethod
    def content(self) -> tuple[object, ...]:
        """Every text and people's judgment, as JSON values."""

    @classmethod
    @abstractmethod
    def read(cls: type[R], fields: Fields) -> R:
        """The row that a line of a file has.

        Raises:
            DataError: it is broken.
        """


R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Relevance(Row):
    """Should this attribute of the user change the reply to this prompt in any way?

    Attributes:
        label: what people said, if only that is known.
        votes: what each person said, if that is known.
        other: an attribute of another user that a control shows instead; empty without one.
    """

    stage = "relevance"
    cells = ("relevance",)
    prompt: str
    attribute: str
    label: bool | None = None
    votes: tuple[bool, ...] = ()
    other: str = field(default="", compare=False)

    @property
    def shown(self) -> str:
        """The attribute that a prompt shows."""
        return self.other or self.attribute

    @property
    def counts(self) -> Counter[bool]:
        return Counter(self.votes)

    @property
    def majority(self) -> bool | None:
        """What most people said; None for even votes."""
        return majority(self.votes) if self.votes else self.label

    @property
    def content(self) -> tuple[object, ...]:
        return self.prompt, self.attribute, self.label, sorted(self.votes)

    @classmethod
    def read(cls, fields: Fields) -> Relevance:
        prompt, attribute = fields.text("prompt"), fields.text("attribute")
        given = fields.one_of(("label",), ("votes",), ("yes", "n"))
        if given == ("label",):
            return cls(fields.id, fields.user_id, prompt, attribute, label=fields.boolean("label"))
        if given == ("votes",):
            votes = fields.votes(lambda vote: isinstance(vote, bool), "true and false")
        else:
            n = fields.whole("n", 1, MOST_VOTES)
            yes = fields.whole("yes", 0, n)
            votes = (True,) * yes + (False,) * (n - yes)
        return cls(fields.id, fields.user_id, prompt, attribute, votes=votes)


class Message(NamedTuple):
    role: str
    content: str


@dataclass(frozen=True)
class Extraction(Row):
    """Does this attribute, extracted from this conversation for this reason, hold?

    Attributes:
        conversation: what the attribute was extracted from.
        reason: why the extractor took it to hold.
        source: `human` or `synthetic`, where the conversation comes from.
        label, votes: as in Relevance, each one of VERDICTS.
    """

    stage = "extraction"
    cells = SOURCES
    conversation: tuple[Message, ...]
    attribute: str
    reason: str
    source: str
    label: str | None = None
    votes: tuple[str, ...] = ()

    @property
    def cell(self) -> str:
        return self.source

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.votes)

    @property
    def majority(self) -> bool | None:
        """Whether most people found it problematic, that is uncertain or rejected; None for even votes."""
        if self.votes:
            return majority([vote != ACCEPTED for vote in self.votes])
        return None if self.label is None else self.label != ACCEPTED

    @property
    def content(self) -> tuple[object, ...]:
        return (
            [list(message) for message in self.conversation],
            self.attribute, self.reason, self.source, self.label, sorted(self.votes),
        )  # fmt: skip

    @classmethod
    def read(cls, fields: Fields) -> Extraction:
        conversation = fields.conversation("conversation")
        attribute, reason = fields.text("attribute"), fields.text("reason")
        source = fields.word("source", SOURCES)
        row = (fields.id, fields.user_id, conversation, attribute, reason, source)
        if fields.one_of(("label",), ("votes",)) == ("label",):
            return cls(*row, label=fields.word("label", VERDICTS))
        return cls(*row, votes=fields.votes(lambda vote: vote in VERDICTS, ", ".join(VERDICTS)))


@dataclass(frozen=True)
class Response(Row):
    """Is the response that uses the attribute better than the one that does not?

    Attributes:
        attribute: what was told about the user.
        generic: the response without the attribute.
        personalized: the response with it.
        votes: what each person said, on SCALE; empty if nobody was asked.
        other: as in Relevance.
    """

    stage = "response"
    cells = ("response",)
    prompt: str
    attribute: str
    generic: str
    personalized: str
    votes: tuple[int, ...] = ()
    other: str = field(default="", compare=False)

    @property
    def shown(self) -> str:
        """The attribute that a prompt shows."""
        return self.other or self.attribute

    @property
    def counts(self) -> Counter[int]:
        return Counter(self.votes)

    @property
    def mean(self) -> float | None:
        """Of the votes; None if there are none."""
        return sum(self.votes) / len(self.votes) if self.votes else None

    @property
    def content(self) -> tuple[object, ...]:
        return self.prompt, self.attribute, self.generic, self.personalized, sorted(self.votes)

    @classmethod
    def read(cls, fields: Fields) -> Response:
        prompt, attribute = fields.text("prompt"), fields.text("attribute")
        generic, personalized = fields.text("generic"), fields.text("personalized")
        votes: tuple[int, ...] = ()
        if fields.has("votes"):
            votes = fields.votes(lambda vote: type(vote) is int and vote in SCALE, "whole numbers from 1 to 5")
        return cls(fields.id, fields.user_id, prompt, attribute, generic, personalized, votes)


STAGES: tuple[type[Row], ...] = (Extraction, Relevance, Response)
"""In the order of a personalized reply: what is known of the user, what matters now, what comes of it."""


def majority(votes: Sequence[bool]) -> bool | None:
    """What more than half of the votes are; None for even ones."""
    yes, no = sum(votes), len(votes) - sum(votes)
    return None if yes == no else yes > no


def parse(stage: type[R], row: dict[str, Any], where: str) -> R:
    """One line of a stage's file.

    Raises:
        DataError: it is broken, has a key that does not belong, or holds personal data.
    """
    fields = Fields(row, where)
    parsed = stage.read(fields)
    fields.refuse_others()
    return parsed


class Fields:
    """The keys of one line, read strictly. What is broken raises DataError with the line.

    Attributes:
        id, user_id: as in Row.
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
