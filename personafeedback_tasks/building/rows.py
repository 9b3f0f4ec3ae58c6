"""Row types of a build's files, one per file. Strict: a broken row raises DataError with its line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypeVar

from msgspec.structs import force_setattr

from ..common.records import NonEmpty, one_of, short
from ..common.row_files import FileRow
from ..core.cases import digest_of
from ..personafeedback.cells import CATEGORIES

FULL, MASKED, QUESTION = "full", "masked", "question"
IMPROVED, DEGRADED, IMPORTED = "improved", "degraded", "imported"
STRATEGIES = (FULL, MASKED, QUESTION, IMPROVED, DEGRADED, IMPORTED)
"""Input of the writer of an answer: the full persona, the persona with most fields hidden, the question alone; or
that it is a rewrite of another answer, to the better or the worse; or unknown, for pairs that a team brought.
"""

WAYS = ("less_personal", "less_helpful")
"""Ways in which a degraded answer is worse."""

TRAIN, TEST = "train", "test"
SPLITS = (TRAIN, TEST)

OWN = "own"
"""The model of a text that no model of this build wrote."""

KEEP = ("", "yes", "no")
"""Empty until somebody has looked, which counts as yes."""


LONGEST_USER = 200
"""Bytes of a user_id, which names a file."""


def refuse_user(user_id: str) -> None:
    """Raise ValueError for a user_id that names no file, or that a table would give back without its spaces."""
    is_line = user_id.isprintable() and user_id == user_id.strip() and user_id.strip(".")
    if not is_line or "/" in user_id or len(user_id.encode()) > LONGEST_USER:
        raise ValueError(
            f"user_id = {short(user_id)}, expected the name of a file, of at most {LONGEST_USER} bytes, without spaces "
            "around it"
        )


class Person(FileRow, frozen=True):
    """The split of a persona, and whether it is kept. The profile itself is persona/<user_id>.json."""

    file = "people.csv"
    key = ("user_id",)

    user_id: NonEmpty  # opaque
    name: str = ""  # as the profile has it, for a reader of the table
    split: Annotated[str, one_of(*SPLITS)] = TEST
    keep: Annotated[str, one_of(*KEEP)] = ""
    reason: str = ""  # why not; empty if kept


class Question(FileRow, frozen=True, kw_only=True):
    """A question of a person. A line that a team adds needs no id: it gets one by its user and its text."""

    file = "questions.csv"

    id: str = ""
    user_id: NonEmpty
    category: Annotated[str, one_of(*CATEGORIES)]  # written for this user, or from a pool and matched to them
    question: NonEmpty
    scenario: str = ""  # as scenarios.csv names it; empty if unknown
    keep: Annotated[str, one_of(*KEEP)] = ""
    reason: str = ""

    def __post_init__(self) -> None:
        if not self.id.strip():
            force_setattr(self, "id", f"{self.user_id}:{digest_of([self.question])}")


class PoolQuestion(FileRow, frozen=True):
    """A question of pool.jsonl, and whether it is open and personal."""

    file = "pool.csv"

    id: NonEmpty
    question: NonEmpty
    keep: Annotated[str, one_of(*KEEP)] = ""
    reason: str = ""


class Basis(FileRow, frozen=True):
    """Memory and features that a question was drawn from. Questions of a team's own have none."""

    file = "basis.jsonl"

    id: NonEmpty  # of the question
    memory: tuple[str, ...]  # pieces of the user's memory
    features: tuple[str, ...] = ()  # that a model inferred from them; empty where the whole persona was shown


class Answer(FileRow, frozen=True):
    """An answer to a question."""

    file = "answers.jsonl"

    id: NonEmpty
    question_id: NonEmpty
    user_id: NonEmpty
    strategy: Annotated[str, one_of(*STRATEGIES)]
    model: NonEmpty  # or OWN
    text: str  # as a user would read it
    parent: str = ""  # id of the answer that it rewrites; empty for the first ones
    way: Annotated[str, one_of("", *WAYS)] = ""  # of a degraded one: in which of WAYS it is worse


class Pair(FileRow, frozen=True):
    """Two answers to one question that people are asked to compare."""

    file = "pairs.jsonl"

    id: NonEmpty
    question_id: NonEmpty
    user_id: NonEmpty
    first: NonEmpty  # ids of the answers, in an order that says nothing
    second: NonEmpty
    easy: str = ""  # id of the answer that should win by construction; empty if nothing says so
    label: str = ""  # id of the answer that the source of an imported pair prefers; empty for other pairs

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise ValueError(f"first = second = {short(self.first)}, expected two answers")
        for name in ("easy", "label"):
            if getattr(self, name) not in ("", self.first, self.second):
                raise ValueError(f"{name} = {short(getattr(self, name))}, expected first, second or nothing")

    def other(self, answer: str) -> str:
        """The id of the answer beside this one."""
        return self.second if answer == self.first else self.first


class Refused(FileRow, frozen=True):
    """A text that a check turned down. It is kept so that it is not asked for again."""

    file = "refused.jsonl"
    key = ()

    id: NonEmpty  # that the text would have had
    step: NonEmpty  # which asked for it
    reason: NonEmpty
    text: str  # as the model gave it


class Origin(FileRow, frozen=True):
    """Origin of one text."""

    file = "provenance.jsonl"

    id: NonEmpty  # of the persona, question or answer
    kind: NonEmpty  # `persona`, `question` or `answer`
    model: NonEmpty  # or OWN
    prompt: str = ""  # name and SHA-256 (12 hex digits) of the prompt's file; empty for OWN
    seed: int = 0  # of the random choices behind it
    parents: tuple[str, ...] = ()  # ids of what went into it: seeds, personas, scenarios, texts, answers


K = TypeVar("K", Person, Question, PoolQuestion)


def kept(rows: Iterable[K]) -> list[K]:
    """Rows that nobody dropped."""
    return [row for row in rows if row.keep != "no"]
