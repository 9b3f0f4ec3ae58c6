"""What a model writes for: each question of a user once, in however many cells the release has it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from ..core import cases as core
from ..core.cases import digest_of
from ..personafeedback.cases import PersonaCase, PersonaCases, PersonaQuestion
from ..personafeedback.cells import CATEGORIES


@dataclass(frozen=True, kw_only=True)
class UserQuestion(PersonaQuestion):
    """A question of one user. Its cell is the category: difficulty is that of a pair of responses, which no writer sees.

    Its id is the user's, and 12 hex digits of the question's SHA-256: the same whatever cells are asked.
    """

    pairs: tuple[PersonaCase, ...] = field(repr=False)  # the release's cases with it, for duels; no prompt shows them


@dataclass(frozen=True)
class Questions(core.CaseSet[UserQuestion]):
    """The questions of one run, in the order of their first cases."""

    cases: tuple[UserQuestion, ...]
    pairs: PersonaCases  # the cases of the release
    counts: str
    source: str = ""  # defaults, since the base class has properties of these names
    digest: str = ""
    cell_order: tuple[str, ...] = CATEGORIES
    named_set: core.NamedSet | None = None

    def of_cells(self, cells: Collection[str]) -> Questions:
        """The questions of some cells of the release only."""
        return questions(replace(self.pairs, cases=tuple(case for case in self.pairs if case.cell in cells)))


def questions(pairs: PersonaCases) -> Questions:
    """Every question of every user among the cases, once."""
    asked: dict[tuple[str, str, str], list[PersonaCase]] = {}
    for case in pairs:
        asked.setdefault((case.user_id, case.category, case.question), []).append(case)
    found = []
    for (user, *text), cases in asked.items():
        first = cases[0]
        found.append(
            UserQuestion.of(
                first.persona, id=f"{user}:{digest_of(text)}", cell=first.category, question=first.question,
                release=first.release, pairs=tuple(cases),
            )
        )  # fmt: skip
    return Questions(tuple(found), pairs, pairs.counts, pairs.source, pairs.digest, named_set=pairs.named_set)
