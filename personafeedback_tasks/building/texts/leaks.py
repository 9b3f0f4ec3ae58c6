"""Whether a question gives away what its answer should have to know about the user.

The paper has a model rewrite such questions. Here they are refused, by a rule that anybody can check: terms of the persona that few
other personas have. Of the released General half's 1,470 questions, which were chosen from a pool and not written for their users, it
refuses 3; of 147 that quote the first 25 characters of the user's job, 140.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ...choice.names import says
from ...choice.terms import overlap_terms
from ...personafeedback.persona import Persona

FEWEST = 5
"""Personas below which nothing is known of what is common: then only names count."""

COMMON = 0.2
"""A term is of this persona if a smaller share of all personas has it."""

TERMS, SHARE = 3, 0.3
"""A question gives its user away with so many terms of this persona, if they are so large a share of its terms."""


class Leaks:
    """The terms of a build's personas."""

    def __init__(self, personas: Iterable[Persona]):
        self._terms = {one.user_id: overlap_terms(one.values) for one in personas}
        self._users = Counter(term for terms in self._terms.values() for term in terms)

    def gives_away(self, persona: Persona, question: str) -> bool:
        """Whether a question says its user's name or too many terms that are theirs.

        Args:
            persona: one of those given.
        """
        name = persona.profile.get("Name")
        if isinstance(name, str) and says(name, question):
            return True
        if len(self._terms) < FEWEST:
            return False
        asked = overlap_terms(question)
        own = [
            term
            for term in asked & self._terms[persona.user_id]
            if self._users[term] <= max(1, COMMON * len(self._terms))
        ]
        return len(own) >= max(TERMS, SHARE * len(asked))
