"""How a user is shown to writers and to voters. People must not vote with a persona that no writer saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from ..common.errors import DataError
from ..core.cases import digest_of
from ..personafeedback.persona import Persona
from .build import Build
from .rows import FULL, MASKED, OWN, Answer, Basis, Origin, Question
from .settings import FILE, Settings

INFERRED, READ = "Inferred_Preferences", "Read_Lately"
"""Parts that a question adds to a persona: features inferred from a handful of the user's memory, and that handful."""

_WORDING = "text:"

HIDDEN = Fraction(4, 5)
"""Share of a persona's fields that the writer of a MASKED answer does not see, as in the paper."""

_PREFERENCES = ("prefer", "偏好", "喜好")


class Bases:
    """The users of a build's questions, as prompts and pages show them now."""

    def __init__(self, build: Build):
        self._build, self._bases = build, build.by_id(Basis)
        self._texts: dict[tuple[str, str], str] = {}

    def for_writers(self, question: Question, strategy: str) -> str:
        """Persona for writers: its core and features inferred for the question, or the whole; a part if MASKED."""
        key = question.id, strategy
        if key not in self._texts:
            persona, basis = self._build.persona(question.user_id), self._bases.get(question.id)
            if basis and basis.features:
                parts = tuple(name for name in persona.profile if any(word in name.lower() for word in _PREFERENCES))
                told = _with(persona.without(parts), {INFERRED: list(basis.features), READ: list(basis.memory)})
            else:
                told = self.for_voters(question)
            self._texts[key] = (masked(self._build.settings, told) if strategy == MASKED else told).text
        return self._texts[key]

    def for_voters(self, question: Question) -> Persona:
        """Persona for voters: the whole persona, and the pieces of memory that the question was drawn from."""
        persona, basis = self._build.persona(question.user_id), self._bases.get(question.id)
        return _with(persona, {READ: list(basis.memory)}) if basis and basis.memory else persona

    def parents(self, question: Question, strategy: str) -> tuple[str, ...]:
        """Parents of an answer that is no rewrite: the question, its wording, and the persona as told."""
        told = [f"persona:{digest_of([self.for_writers(question, strategy)])}"] if strategy in (FULL, MASKED) else []
        # A team may edit a question under the same id.
        return (question.id, f"{_WORDING}{digest_of([question.question])}", *told)

    def refuse_edited(
        self, questions: Iterable[Question], answers: Iterable[Answer], origins: Mapping[str, Origin]
    ) -> None:
        """Raise DataError if a question, or what is told of a persona, was edited after a model answered it."""
        of_id = {question.id: question for question in questions}
        for answer in answers:
            question, origin = of_id.get(answer.question_id), origins.get(answer.id)
            if question is None or origin is None or origin.model == OWN:
                continue
            changed = {*self.parents(question, answer.strategy)} - {*origin.parents}
            if any(parent.startswith(_WORDING) for parent in changed):
                raise DataError(
                    f"{self._build.path(Question)}: found question {question.id!r} with another text than was "
                    "answered. Put the text back; or set its keep to no, and add the new text as a line without an "
                    "id. `build texts` gives it one and answers it."
                )
            if changed:
                also = f" (or seed in {self._build.root / FILE})" if answer.strategy == MASKED else ""
                raise DataError(
                    f"{self._build.persona_path(question.user_id)}: found another persona{also} than answer "
                    f"{answer.id!r} was written for, so that people would vote with a persona that it never saw. Put "
                    "it back; or add the edited persona as persona/<new user_id>.json and drop this person in "
                    "people.csv (keep = no)."
                )


def masked(settings: Settings, persona: Persona) -> Persona:
    """A persona without HIDDEN of its leaf fields, always the same; without parts that lost all their fields, too."""
    parts = persona.fields
    inside = {part: [other for other in parts if other.startswith(f"{part}.")] for part in parts}
    leaves = sorted(part for part in parts if not inside[part])
    hidden = set(settings.generator("masked", persona.user_id).sample(leaves, round(HIDDEN * len(leaves))))
    whole = {part for part in parts if inside[part] and hidden.issuperset({*leaves}.intersection(inside[part]))}
    return persona.without(tuple(sorted(hidden | whole)))


def _with(persona: Persona, parts: dict[str, Any]) -> Persona:
    return Persona(persona.user_id, {**persona.profile, **parts}, persona.memory_file)
