"""Whether a reply names an attribute outright (`Since you have a knee problem, ...`), by the words of its sentences."""

from __future__ import annotations

import re

from ..choice.terms import overlap_terms

NAMED = 0.75
"""Share of an attribute's words that one sentence must have. A reply that adapts without naming it has few of them in one place."""

_SENTENCES = re.compile(r"(?<=[.!?。！？])\s*|\n+")
_FUNCTION_WORDS = frozenset((
    "a", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his",
    "i", "in", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "s", "she", "so", "that", "the", "their", "them", "they",
    "this", "to", "user", "was", "we", "were", "when", "who", "with", "you", "your",
))  # fmt: skip
"""English words that say nothing of what an attribute is about."""


def mentions(attribute: str, reply: str) -> bool:
    """Whether a reply has the attribute as it is, or in a sentence NAMED of its words; function words count only if there are no others."""
    if " ".join(attribute.casefold().split()) in " ".join(reply.casefold().split()):
        return True
    words = overlap_terms(attribute)
    words = words - _FUNCTION_WORDS or words
    return bool(words) and any(len(words & overlap_terms(one)) >= NAMED * len(words) for one in _SENTENCES.split(reply))
