"""Whether a question gives away its user: an introduction in words of their profile ("as a sports commentator"), or terms rare elsewhere.

A model rewrites such a question, as in the paper; it is refused if the rules still find something.
"""

# Of the released General half's 1,470 questions, which were chosen from a pool and not written for their users, the rules find 4; of 147 that
# quote the first 25 characters of the user's job, 143; and all 147 that begin with 作为 and ten characters of it.

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ...pairwise.terms import overlap_terms, says
from ...personafeedback.persona import Persona

FEWEST = 5
"""Personas below which nothing is known of what is common: then only names and introductions count."""

COMMON = 0.2
"""A term is of this persona if a smaller share of all personas has it."""

TERMS, SHARE = 3, 0.3
"""A question gives its user away with so many terms of this persona, if they are so large a share of its terms."""

_SHORTEST = 4
"""Letters of a Latin word that says something about a person: not `and`."""

_INTRODUCES = re.compile(
    r"\b(?:as an?|as someone|being an?|i(?:['’]m| am| work| teach| study)|(?:since|because) i|my (?:job|work|career|profession|role|studies)(?: as| at| in| is)?)"
    r"(?: [\w'’-]+){1,6}|(?:作为|身为|我是|我在|我从事|我今年|我的(?:工作|职业|专业))[^，。！？；,.!?;\s]{1,14}",
    re.IGNORECASE,
)
_TYPE = re.compile(r"(?<![A-Za-z])[EI][NS][FT][JP](?![A-Za-z])")
_TEMPERS = {"E": ("extrovert", "extroverted", "extravert", "外向"), "I": ("introvert", "introverted", "内向")}
_ABOUT = re.compile("demographic|career|job|occupation|profession|age\\b|职业|工作|年龄", re.IGNORECASE)
"""Keys of what people say when they introduce themselves."""


class Leaks:
    """The terms of a build's personas."""

    def __init__(self, personas: Iterable[Persona]):
        self._terms = {persona.user_id: overlap_terms(persona.values) for persona in personas}
        self._users = Counter(term for terms in self._terms.values() for term in terms)

    def found(self, persona: Persona, question: str) -> list[str]:
        """Phrases that give a user away: their name, introductions, and terms that are theirs; the persona is one of the build's."""
        name = persona.profile.get("Name")
        phrases = [name] if isinstance(name, str) and says(name, question) else []
        phrases += _TYPE.findall(question)
        about = _about(persona.profile)
        own = {term for term in overlap_terms(about) if len(term) >= _SHORTEST or not term.isascii()} | set(
            re.findall("[0-9]+", about)
        )
        own = {term for term in own if self._is_rare(term)} | {word for word in _tempers(persona.profile)}
        for phrase in _INTRODUCES.findall(question):
            if own & {*overlap_terms(phrase), *re.findall("[0-9]+", phrase)}:
                phrases.append(phrase)
        if len(self._terms) >= FEWEST:
            asked = overlap_terms(question)
            rare = sorted(term for term in asked & self._terms[persona.user_id] if self._is_rare(term))
            if len(rare) >= max(TERMS, SHARE * len(asked)):
                phrases += rare
        return phrases

    def _is_rare(self, term: str) -> bool:
        return self._users[term] <= max(1, COMMON * len(self._terms)) or len(self._terms) < FEWEST


def _about(profile: Mapping[str, Any]) -> str:
    # Age, work and origin; the whole profile if no key names them.
    chosen = {key: value for key, value in profile.items() if _ABOUT.search(key)}
    return "\n".join(sorted(Persona("", chosen or {**profile, "Name": ""}).statements))


def _tempers(profile: Mapping[str, Any]) -> tuple[str, ...]:
    personality = profile.get("Personality")
    letter = personality.get("Extraversion_or_Introversion") if isinstance(personality, Mapping) else None
    return _TEMPERS.get(str(letter)[:1].upper(), ()) if letter else ()
