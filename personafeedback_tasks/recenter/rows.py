"""What people judged, one type of row per stage: the texts that they saw, and their judgment.

Judgments are votes, one per person in no particular order, or the label alone where only that is known.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from ..engine.cases import digest_of
from .fields import MOST_VOTES, Fields, Message

ACCEPTED = "accepted"
VERDICTS = (ACCEPTED, "uncertain", "rejected")
SOURCES = ("human", "synthetic")
SCALE = (1, 2, 3, 4, 5)
"""How the personalized response compares with the generic one: 3 is no difference, 5 much better."""


@dataclass(frozen=True)
class JudgedRow(ABC):
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


R = TypeVar("R", bound=JudgedRow)


@dataclass(frozen=True)
class Relevance(JudgedRow):
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


@dataclass(frozen=True)
class Extraction(JudgedRow):
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
class Response(JudgedRow):
    """Is the response that uses the attribute better than the one that does not?

    Attributes:
        attribute: what was told about the user.
        generic: the response without the attribute.
        personalized: the response with it.
        votes: what each person said, on SCALE; empty if nobody was asked.
        other: as in Relevance.
    """

    stage = "response"
    cells = ("response_pairs",)
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


STAGES: tuple[type[JudgedRow], ...] = (Extraction, Relevance, Response)
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
