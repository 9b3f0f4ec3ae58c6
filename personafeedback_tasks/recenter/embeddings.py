"""How similar an attribute and a prompt are by a model of sentence embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from ..common.embeddings import DEFAULT, embedder
from .rows import Relevance


def similarity(rows: Sequence[Relevance], model: str = DEFAULT) -> dict[str, float]:
    """Cosine of the attribute that each row shows and its prompt, in [-1, 1], by row id. See `Embedder` for what is raised."""
    if not rows:
        return {}
    vectors = embedder(model).embed([text for row in rows for text in (row.shown, row.prompt)])
    cosines = (vectors[0::2] * vectors[1::2]).sum(axis=1)
    return {row.id: float(cosine) for row, cosine in zip(rows, cosines, strict=True)}
