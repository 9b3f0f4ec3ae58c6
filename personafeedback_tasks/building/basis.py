"""What a question was asked from, and what that adds to its user: for those who write answers, and for those who vote."""

from __future__ import annotations

from typing import Any

from ..personafeedback.persona import Persona
from .folder import Folder
from .rows import Basis, Question

INFERRED, READ = "Inferred_Preferences", "Read_Lately"
"""Parts of a persona that a question adds: what a model inferred from a handful of the user's memory, and that handful."""

_PREFERENCES = ("prefer", "偏好", "喜好")


class Bases:
    """The users of a build's questions, as prompts and pages show them."""

    def __init__(self, folder: Folder):
        self._folder, self._bases = folder, folder.by_id(Basis)
        self._personas: dict[str, Persona] = {}

    def told(self, question: Question) -> Persona:
        """For writers: the core of the persona and what was inferred for this question; the whole persona if nothing was.

        Raises:
            DataError: the persona is missing or broken.
        """
        persona, basis = self._persona(question.user_id), self._bases.get(question.id)
        if basis is None or not basis.features:
            return self.shown(question)
        parts = tuple(key for key in persona.profile if any(word in key.lower() for word in _PREFERENCES))
        return _with(persona.without(parts), {INFERRED: list(basis.features), READ: list(basis.memory)})

    def shown(self, question: Question) -> Persona:
        """For those who vote: the whole persona, and the pieces of memory that the question was drawn from. Raises DataError, as `told`."""
        persona, basis = self._persona(question.user_id), self._bases.get(question.id)
        return _with(persona, {READ: list(basis.memory)}) if basis and basis.memory else persona

    def memory(self, question_id: str) -> tuple[str, ...]:
        """The pieces that a question was drawn from; none for the most part of questions that a team brought."""
        basis = self._bases.get(question_id)
        return basis.memory if basis else ()

    def _persona(self, user: str) -> Persona:
        if user not in self._personas:
            self._personas[user] = self._folder.persona(user)
        return self._personas[user]


def _with(persona: Persona, parts: dict[str, Any]) -> Persona:
    return Persona(persona.user_id, {**persona.profile, **parts}, persona.memory_file)
