"""Cases: a question of a user who is known by one text, a stated preference or a persona, and responses to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ..core.cases import CaseSet, digest_of_texts
from .report import NO_PERSONA, OTHER_PERSONA, PERSONA

T = TypeVar("T")
COUNTS = ("checked", "any")


@dataclass(frozen=True, kw_only=True)
class QuestionCase:
    """A question of a user."""

    id: str
    cell: str
    user_id: str
    known: str  # what is known about the user
    question: str
    responses: tuple[str, ...] = ()  # the right one first; empty where the model writes one
    language: str = "en"

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of the id and of every text."""
        return digest_of_texts((self.id, self.user_id, self.known, self.question, *self.responses))


@dataclass(frozen=True, kw_only=True)
class ChoiceCase(QuestionCase):
    """A question of a user, and responses of which one is right."""

    other_known: str  # what is known about another user, for `other_persona`; not in the digest

    def told(self, setting: str) -> str:
        """What a prompt says about the user under a setting; empty for nothing."""
        return {PERSONA: self.known, OTHER_PERSONA: self.other_known, NO_PERSONA: ""}[setting]


@dataclass(frozen=True)
class ChoiceCases(CaseSet[ChoiceCase]):
    """The cases of a run, cells mixed in proportion to their sizes."""

    cases: tuple[ChoiceCase, ...]
    counts: str
    source: str = ""  # defaults, since the base class has properties of these names
    digest: str = ""
    cell_order: tuple[str, ...] = ()


def in_proportion(cells: Sequence[Sequence[T]]) -> list[T]:
    """Interleave cells: every prefix has the proportions of the whole to within one case."""
    places = []
    for rank, cell in enumerate(cells):
        places += [((position + 0.5) / len(cell), rank, position) for position in range(len(cell))]
    return [cells[rank][position] for _, rank, position in sorted(places)]
