"""Baselines of relevance: everything, nothing, and the attributes that are most like the prompt.

For BM25 and embeddings k is a profile's size times the overall share of YES: neither gains by how much it selects.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ..common.embeddings import embedder
from ..common.retrieval import retrieve
from ..core.result import Answers
from ..parsing.words import NO, YES
from .control import by_prompt
from .rows import Relevance

EMBEDDINGS = "RECENTER_EMBEDDINGS"
"""The environment variable that names a model of sentence-transformers: on the Hub, or a folder."""


def relevance(rows: Sequence[Relevance]) -> tuple[dict[str, dict[str, Answers]], list[str]]:
    """(name -> row id -> answer, notes on the baselines and on missing ones).

    Args:
        rows: all rows of the data that have a majority, asked or not, so that profiles are whole.

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
    """k: how many attributes of a profile are selected."""
    return max(1, int(size * rate + 0.5))


def most_alike(profile: Sequence[Relevance], k: int) -> set[str]:
    """Ids of the rows selected by BM25 between prompt and attribute. Equal attributes are selected together."""
    best = set(retrieve(profile[0].prompt, [row.attribute for row in profile], k))
    return {row.id for row in profile if row.attribute in best}


def similarity(rows: Sequence[Relevance], model: str) -> dict[str, float]:
    """Row id -> cosine of the attribute that the row shows and its prompt, in [-1, 1]."""
    if not rows:
        return {}
    vectors = embedder(model).embed([text for row in rows for text in (row.shown, row.prompt)])
    cosines = (vectors[0::2] * vectors[1::2]).sum(axis=1)
    return {row.id: float(cosine) for row, cosine in zip(rows, cosines, strict=True)}


def _of_profiles(
    rows: Sequence[Relevance], rate: float, chosen: Callable[[Sequence[Relevance], int], set[str]]
) -> dict[str, Answers]:
    # the order of rows decides between attributes that are equally like the prompt
    best: set[str] = set()
    for profile in by_prompt(rows):
        best |= chosen(profile, selected(len(profile), rate))
    return {row.id: (YES if row.id in best else NO,) for row in rows}
