"""Stand-ins for cases, shown in every way that options allow, for fingerprints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from ..pairwise.report import PADDING, SIMILAR_PERSONA
from .cases import PersonaCase
from .others import Others
from .persona import Persona
from .prompts import SETTINGS, Template

PIECES, HIDDEN = ("tea", "snow"), ("Home.City", "Likes", "喜好")


class _Others:
    def of(self, user_id: str) -> Persona:
        return Persona("", {"Name": "Bo"})


CASES = tuple(
    PersonaCase("", "", "", Persona("", profile), "Q", "C", "R", others=cast(Others, _Others()))
    for profile in (
        {"Name": "Ada", "Age": 36, "Likes": ["tea", {"in": "May"}], "Home": {"City": "Ely", "Pets": []}},
        {"姓名": "小安", "喜好": ["茶"]},
    )
)
"""One of each language: their contents tell the fixed texts and the layout apart."""

T = TypeVar("T", bound=Template)


def shown(options: T, methods: Sequence[str]) -> Iterator[tuple[PersonaCase, T]]:
    """Each stand-in with the options under every setting and method, with hidden fields, and before and after the filter.

    A similar persona is laid out like another one, and the text of PADDING has its own digest: both are left out.
    """
    plain = replace(options, rag_filter=False, hide=(), kept=PIECES)
    for case in CASES:
        for method in methods:
            yield from (
                (case, replace(plain, setting=setting, method=method))
                for setting in SETTINGS
                if setting not in (SIMILAR_PERSONA, PADDING)
            )
            yield case, replace(plain, setting="persona", method=method, hide=HIDDEN)
            yield case, replace(plain, setting="rag", method=method, kept=())
        if methods[0] != "reward":
            yield case, replace(plain, setting="rag", method=methods[0], rag_filter=True, hide=HIDDEN)
