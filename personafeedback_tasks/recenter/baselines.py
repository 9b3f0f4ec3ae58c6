"""What relevance is without understanding: everything, nothing, and the attributes that are most like the prompt.

BM25 and embeddings select the best k of a profile, which is what one user has for one prompt. Nobody tells them k: it is as
many as people select on average, the size of the profile times the share of YES over all rows, so that neither baseline can
win or lose by how much it selects.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ..common.embeddings import embedder
from ..common.retrieval import retrieve
from ..core.outcome import Answers
from ..parsing.words import NO, YES
from .control import by_prompt
from .rows import Relevance

EMBEDDINGS = "RECENTER_EMBEDDINGS"
"""The environment variable that names a model of sentence-transformers: on the Hub, or a folder."""


def relevance(rows: Sequence[Relevance]) -> tuple[dict[str, dict[str, Answers]], list[str]]:
    """(name -> row id -> answer, notes on what they are and on those that are missing).

    Args:
        rows: all rows of the data that have a majority, asked or not: a profile is never a part of one.

    Raises:
        OptionError: the model that RECENTER_EMBEDDINGS names cannot be loaded.
    """
    rate = sum(row.judgment is True for row in rows) / len(rows) if rows else 0.0
    said: dict[str, dict[str, Answers]] = {}
    missing = []
    try:
        said["BM25"] = _of_profiles(rows, rate, most_alike)
    except ModuleNotFoundError as error:
        missing.append(f"No BM25: {error}")
    if model := os.environ.get(EMBEDDINGS, "").strip():
        try:
            cosine = similarity(rows, model)
        except ModuleNotFoundError as error:
            missing.append(f"No embeddings: {error}")
        else:
            said["embeddings"] = _of_profiles(
                rows,
                rate,
                lambda own, k: {row.id for row in sorted(own, key=lambda row: (-cosine[row.id], row.id))[:k]},
            )
    else:
        missing.append(
            f"No embeddings: set {EMBEDDINGS} to a model of sentence-transformers, such as "
            "sentence-transformers/all-MiniLM-L6-v2, or to its folder."
        )
    rule = (
        f"{' and '.join(said)}: the k attributes of a user that are most like the prompt. k is the user's number of attributes "
        f"for that prompt times the share of {YES} over all rows ({100 * rate:.1f} %), rounded, and at least 1."
    )
    always: dict[str, dict[str, Answers]] = {
        f"always {label}": {row.id: (label,) for row in rows} for label in (YES, NO)
    }
    return always | said, [*([rule] if said else []), *missing]


def selected(size: int, rate: float) -> int:
    """k: how many of a profile are selected."""
    return max(1, int(size * rate + 0.5))


def most_alike(profile: Sequence[Relevance], k: int) -> set[str]:
    """By BM25 between the prompt and each attribute. Rows with the same attribute are selected together.

    Raises:
        ModuleNotFoundError: bm25s is not installed.
    """
    best = set(retrieve(profile[0].prompt, [row.attribute for row in profile], k))
    return {row.id for row in profile if row.attribute in best}


def similarity(rows: Sequence[Relevance], model: str) -> dict[str, float]:
    """Cosine of the attribute that each row shows and its prompt, in [-1, 1], by row id. See `Embedder` for what is raised."""
    if not rows:
        return {}
    vectors = embedder(model).embed([text for row in rows for text in (row.shown, row.prompt)])
    cosines = (vectors[0::2] * vectors[1::2]).sum(axis=1)
    return {row.id: float(cosine) for row, cosine in zip(rows, cosines, strict=True)}


def _of_profiles(
    rows: Sequence[Relevance], rate: float, chosen: Callable[[Sequence[Relevance], int], set[str]]
) -> dict[str, Answers]:
    """The answer to each row.

    Args:
        chosen: (a profile, k) -> the ids of the rows that are selected of it. The order of rows decides between attributes that are equally
            like the prompt.
    """
    best: set[str] = set()
    for profile in by_prompt(rows):
        best |= chosen(profile, selected(len(profile), rate))
    return {row.id: (YES if row.id in best else NO,) for row in rows}
