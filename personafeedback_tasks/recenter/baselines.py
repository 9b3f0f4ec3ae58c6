"""Baselines of relevance: everything, nothing, and the attributes that are most like the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from ..common.retrieval import retrieve
from ..core.result import Answers
from ..parsing.words import NO, YES
from .data import by_prompt
from .rows import Relevance


def relevance(rows: Sequence[Relevance]) -> tuple[dict[str, dict[str, Answers]], list[str]]:
    """(name -> row id -> answer, notes on BM25, or on why it is missing).

    Args:
        rows: all rows of the data that have a majority, asked or not, so that profiles are whole.
    """
    said: dict[str, dict[str, Answers]] = {f"always {label}": {row.id: (label,) for row in rows} for label in (YES, NO)}
    # k is a profile's size times the overall share of YES, so that BM25 does not gain by how much it selects
    rate = sum(row.judgment is True for row in rows) / len(rows) if rows else 0.0
    best: set[str] = set()
    try:
        for profile in by_prompt(rows):
            best |= most_alike(profile, max(1, int(len(profile) * rate + 0.5)))
    except ModuleNotFoundError as error:
        return said, [f"No BM25: {error}"]
    said["BM25"] = {row.id: (YES if row.id in best else NO,) for row in rows}
    rule = (
        "BM25: the k attributes of a user that are most like the prompt. k is the user's number of attributes "
        f"for that prompt times the share of {YES} over all rows ({100 * rate:.1f} %), rounded, and at least 1."
    )
    return said, [rule]


def most_alike(profile: Sequence[Relevance], k: int) -> set[str]:
    """Ids of the rows selected by BM25 between prompt and attribute. Equal attributes are selected together."""
    best = set(retrieve(profile[0].prompt, [row.attribute for row in profile], k))
    return {row.id for row in profile if row.attribute in best}
