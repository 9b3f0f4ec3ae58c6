"""Question and pieces of text -> the pieces that are most relevant to the question, by BM25."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..common.errors import require
from ..common.text import IDEOGRAPHS, neighbours, nfkc

_RUN = re.compile(rf"[{IDEOGRAPHS}]+|[^\W_{IDEOGRAPHS}]+")
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")


def search_terms(text: str) -> list[str]:
    """The lower-cased words and numbers of a text, and the pairs of neighboring Chinese characters."""
    # The tokenizer of bm25s makes one token of a Chinese line, which then matches nothing. A single character is a term
    # itself, and full-width letters and figures are those of ASCII.
    found: list[str] = []
    for run in _RUN.findall(nfkc(text).lower()):
        if len(run) == 1 or not _IDEOGRAPH.match(run):
            found.append(run)
        else:
            found += neighbours(run)
    return found


def retrieve(question: str, pieces: Sequence[str], k: int) -> tuple[str, ...]:
    """The k different pieces that are most relevant to a question, best first; all of them if there are fewer."""
    # Pieces that are equally relevant keep their order, including those that share no term with the question.
    different, index = _index(tuple(pieces))
    known = Counter(term for term in search_terms(question) if index is not None and term in index.vocab_dict)
    if not known:
        return different[:k]
    found = sum(count * index.get_scores([term]) for term, count in known.items())
    # Rounded: differences between numpy versions must not decide an order.
    scores = [round(float(score), 6) for score in found]
    best = sorted(range(len(different)), key=lambda place: -scores[place])
    return tuple(different[place] for place in best[:k])


@lru_cache(maxsize=1024)  # one a user: the cases of a task come with users in turn
def _index(pieces: tuple[str, ...]) -> tuple[tuple[str, ...], Any]:
    # None if no piece has a term, which bm25s cannot index.
    require("bm25s", extra="retrieval")
    import bm25s

    different = tuple(dict.fromkeys(pieces))
    tokens = [search_terms(piece) for piece in different]
    if not any(tokens):
        return different, None
    index = bm25s.BM25(dtype="float64")
    index.index(tokens, show_progress=False)
    return different, index
