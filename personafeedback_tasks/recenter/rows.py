"""What people judged, one type of row per stage: the texts that they saw, and their judgment.

Judgments are votes, one per person in no particular order, or the label alone where only that is known. A row that nobody judged
yet has an empty list of votes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from ..engine.cases import digest_of
from .fields import MOST_VOTES, Message, RowFields

ACCEPTED = "accepted"
VERDICTS = (ACCEPTED, "uncertain", "rejected")
SOURCES = ("human", "synthetic")
SCALE = (1, 2, 3, 4, 5)
"""How the personalized response compares with the generic one: 3 is no difference, 5 much better."""


@dataclass(frozen=True)
class StageRow(ABC):
    """One row of a stage: a case of the engine.

    Attributes:
        stage: its name, and that of its file.
        cells: those that its rows are in, in the order of tables.
        question, asked_about: what a model is asked about, in one line, and what that is.
        responses, shown_labels: see `report.Shown`.
    """

    stage: ClassVar[str]
    cells: ClassVar[tuple[str, ...]]
    asked_about: ClassVar[str] = "Prompt"
    shown_labels: ClassVar[tuple[str, str]] = ("right", "wrong")
    id: str
    user_id: str

    @property
    @abstractmethod
    def question(self) -> str: ...

    @property
    def responses(self) -> tuple[str, ...]:
        return ()

    @property
    def cell(self) -> str:
        return self.cells[0]

    @property
    def language(self) -> str:
        return "en"

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of the id, the user, every text and what people said."""
        return digest_of((self.stage, *self.content))

    @property
    def content(self) -> tuple[Any, ...]:
        """The id, the user, every text and what people said, as JSON values."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self) if field.compare)
        return tuple(sorted(value) if name == "votes" else value for name, value in values)


S = TypeVar("S", bound=StageRow)


@dataclass(frozen=True)
class JudgedRow(StageRow):
    """One row that people judged."""

    @property
    @abstractmethod
    def judgment(self) -> float | None:
        """What people said; None if nothing can be scored against it."""

    @classmethod
    @abstractmethod
    def read(cls: type[R], fields: RowFields) -> R:
        """The row that a line of a file has.

        Raises:
            DataError: it is broken.
        """


R = TypeVar("R", bound=JudgedRow)


@dataclass(frozen=True)
class PromptRow(JudgedRow):
    """A row about one attribute of the user and a prompt.

    Attributes:
        other: an attribute of another user that a control shows instead; empty without one.
    """

    prompt: str
    attribute: str
    other: str = field(default="", compare=False, kw_only=True)

    @property
    def question(self) -> str:
        return self.prompt

    @property
    def shown(self) -> str:
        """The attribute that a prompt shows."""
        return self.other or self.attribute


@dataclass(frozen=True)
class Relevance(PromptRow):
    """Should this attribute of the user change the reply to this prompt in any way?

    Attributes:
        label: what people said, if only that is known.
        votes: what each person said, if that is known.
    """

    stage = "relevance"
    cells = ("relevance",)
    label: bool | None = None
    votes: tuple[bool, ...] = ()

    @property
    def verdicts(self) -> tuple[bool, ...]:
        """What each person said."""
        return self.votes

    @property
    def judgment(self) -> bool | None:
        """What most people said; None for even votes."""
        return majority(self.votes) if self.votes else self.label

    @classmethod
    def read(cls, fields: RowFields) -> Relevance:
        row = (*fields.names(), fields.text("prompt"), fields.text("attribute"))
        given = fields.judged_by(("label",), ("votes",), ("yes", "n"))
        if given == ("label",):
            return cls(*row, label=fields.boolean("label"))
        if given == ("votes",):
            return cls(*row, votes=fields.votes(lambda vote: isinstance(vote, bool), "true and false"))
        n = fields.whole("n", 1, MOST_VOTES)
        yes = fields.whole("yes", 0, n)
        return cls(*row, votes=(True,) * yes + (False,) * (n - yes))


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
    asked_about = "Attribute"
    conversation: tuple[Message, ...]
    attribute: str
    reason: str
    source: str
    label: str | None = None
    votes: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        return self.attribute

    @property
    def cell(self) -> str:
        return self.source

    @property
    def verdicts(self) -> tuple[bool, ...]:
        """Whether each person found it problematic, that is uncertain or rejected."""
        return tuple(vote != ACCEPTED for vote in self.votes)

    @property
    def judgment(self) -> bool | None:
        """Whether most people found it problematic; None for even votes."""
        if self.votes:
            return majority(self.verdicts)
        return None if self.label is None else self.label != ACCEPTED

    @property
    def transcript(self) -> str:
        """The conversation as people read it."""
        return transcript(self.conversation)

    @classmethod
    def read(cls, fields: RowFields) -> Extraction:
        row = (
            *fields.names(), fields.conversation("conversation"), fields.text("attribute"), fields.text("reason"),
            fields.word("source", SOURCES),
        )  # fmt: skip
        if fields.judged_by(("label",), ("votes",)) == ("label",):
            return cls(*row, label=fields.word("label", VERDICTS))
        return cls(*row, votes=fields.votes(lambda vote: vote in VERDICTS, ", ".join(VERDICTS)))


@dataclass(frozen=True)
class Response(PromptRow):
    """Is the response that uses the attribute better than the one that does not?

    Attributes:
        generic: the response without the attribute.
        personalized: the response with it.
        votes: what each person said, on SCALE; empty if nobody was asked.
    """

    stage = "response"
    cells = ("response_pairs",)
    shown_labels = ("personalized", "generic")
    generic: str
    personalized: str
    votes: tuple[int, ...] = ()

    @property
    def responses(self) -> tuple[str, ...]:
        return self.personalized, self.generic

    @property
    def judgment(self) -> float | None:
        """The mean of the votes; None if there are none."""
        return sum(self.votes) / len(self.votes) if self.votes else None

    @classmethod
    def read(cls, fields: RowFields) -> Response:
        names = fields.names()
        prompt, attribute, generic, personalized = map(fields.text, ("prompt", "attribute", "generic", "personalized"))
        votes: tuple[int, ...] = ()
        if "votes" in fields.row:
            votes = fields.votes(lambda vote: type(vote) is int and vote in SCALE, "whole numbers from 1 to 5")
        return cls(*names, prompt, attribute, generic, personalized, votes)


STAGES: tuple[type[JudgedRow], ...] = (Extraction, Relevance, Response)
"""In the order of a personalized reply: what is known of the user, what matters now, what comes of it."""


def transcript(conversation: Iterable[Message]) -> str:
    """A conversation as people and models read it."""
    return "\n\n".join(f"{message.role}: {message.content}" for message in conversation)


def majority(votes: Sequence[bool]) -> bool | None:
    """What more than half of the votes are; None for even ones."""
    yes, no = sum(votes), len(votes) - sum(votes)
    return None if yes == no else yes > no


def parse(stage: type[R], row: dict[str, Any], where: str) -> R:
    """One line of a stage's file.

    Raises:
        DataError: it is broken, has a key that does not belong, or holds personal data.
    """
    fields = RowFields(row, where)
    parsed = stage.read(fields)
    fields.refuse_others()
    return parsed
