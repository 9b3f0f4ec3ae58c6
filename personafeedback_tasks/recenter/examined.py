"""What the rows of a stage add to a report: baselines, how far people agree, and what a reader of a single row sees."""

from __future__ import annotations

from collections.abc import Collection

from ..engine.report import Examined, Shown
from ..replies.yes_no import LABELS
from . import agreement, baselines
from .data import Rows
from .rows import Relevance

YES, NO = LABELS


def relevance(rows: Rows[Relevance], asked: Collection[str]) -> Examined:
    """See `ReportSpec.examine`. Profiles, the share of YES and people's agreement are those of all rows, asked or not."""
    said, notes = baselines.relevance(rows.cases)
    votes = [(row.user_id, [YES if vote else NO for vote in row.votes]) for row in (*rows.cases, *rows.tied)]
    return Examined(said=said, said_notes=notes, agreement=agreement.of_labels(votes, LABELS))


def shown_relevance(rows: Rows[Relevance], asked: Collection[str]) -> Shown:
    """See `ReportSpec.shown`."""
    there = [row for row in rows if row.id in asked]
    return Shown(
        questions={row.id: row.prompt for row in there},
        question="Prompt",
        texts={row.id: {"About the user": row.attribute, "People": _people(row)} for row in there},
    )


def _people(row: Relevance) -> str:
    label = YES if row.majority else NO
    return f"{label}: {row.counts[bool(row.majority)]} of {len(row.votes)} people" if row.votes else label
