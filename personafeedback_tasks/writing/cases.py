"""What a model writes for: each question of a user once, in however many cells the release has it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..core import cases as core
from ..core.cases import digest_of
from ..personafeedback.cases import CATEGORIES, PersonaCase
from ..personafeedback.cases import PersonaCases as Pairs
from ..personafeedback.persona import Persona


@dataclass(frozen=True)
class UserQuestion:
    """A question of one user."""

    id: str  # of the user, and 12 hex digits of the question's SHA-256: the same whatever cells are asked
    pairs: tuple[PersonaCase, ...] = field(repr=False)  # the release's cases with it, for duels; no prompt shows them

    @property
    def cell(self) -> str:
        """The category. The difficulty of a case is that of its pair of responses, which the writer never sees."""
        return self.pairs[0].category

    @property
    def question(self) -> str:
        return self.pairs[0].question

    @property
    def persona(self) -> Persona:
        return self.pairs[0].persona

    def another(self, setting: str) -> Persona:
        """The persona that `other_persona` or `similar_persona` shows."""
        return self.pairs[0].another(setting)

    @property
    def user_id(self) -> str:
        return self.persona.user_id

    @property
    def language(self) -> str:
        return self.persona.language

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of the id and of every text that a prompt may show."""
        return digest_of((self.id, self.user_id, self.persona.text, self.question))


@dataclass(frozen=True)
class Questions(core.CaseSet[UserQuestion]):
    """The questions of one run, in the order of their first cases."""

    cases: tuple[UserQuestion, ...]
    pairs: Pairs

    @property
    def counts(self) -> str:  # type: ignore[override] # of the pairs
        return self.pairs.counts

    @property
    def cell_order(self) -> tuple[str, ...]:
        return CATEGORIES

    @property
    def source(self) -> str:
        return self.pairs.source

    @property
    def digest(self) -> str:
        return self.pairs.digest

    def of_cells(self, cells: Collection[str]) -> Questions:
        """The questions of some cells of the release only."""
        return questions(replace(self.pairs, cases=tuple(case for case in self.pairs if case.cell in cells)))

    @property
    def named_set(self) -> core.NamedSet | None:
        return self.pairs.named_set


def questions(pairs: Pairs) -> Questions:
    """Every question of every user among the cases, once."""
    asked: dict[tuple[str, str, str], list[PersonaCase]] = {}
    for case in pairs:
        asked.setdefault((case.user_id, case.category, case.question), []).append(case)
    return Questions(
        tuple(UserQuestion(f"{user}:{digest_of(text)}", tuple(cases)) for (user, *text), cases in asked.items()), pairs
    )
