"""Text -> its terms: what baselines count, and what tells near twins among the personas."""

from __future__ import annotations

import re
from itertools import chain

from ..common.text import IDEOGRAPHS, LATIN_LETTERS, neighbours

_WORD, _IDEOGRAPHS = re.compile(f"[{LATIN_LETTERS}]+"), re.compile(f"[{IDEOGRAPHS}]+")


def overlap_terms(text: str) -> frozenset[str]:
    """The distinct lower-cased Latin words of a text, and the pairs of neighboring Chinese characters."""
    lower = text.lower()
    return frozenset(chain(_WORD.findall(lower), *map(neighbours, _IDEOGRAPHS.findall(lower))))
