"""Text -> its terms: what baselines count, and what tells near twins among the personas."""

from __future__ import annotations

import re

from ..common.text import IDEOGRAPHS, LATIN_LETTERS, neighbours

_RUN = re.compile(f"[{LATIN_LETTERS}]+|[{IDEOGRAPHS}]+")


def overlap_terms(text: str) -> frozenset[str]:
    """The distinct lower-cased Latin words of a text, and the pairs of neighboring Chinese characters."""
    terms: set[str] = set()
    for run in _RUN.findall(text.lower()):
        if run[0] < "\u3400":
            terms.add(run)
        else:
            terms.update(neighbours(run))
    return frozenset(terms)
