"""What the rows of a stage add to a report: baselines, how far people agree, and what a reader of a single row sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence

from ..engine.outcome import Answers
from ..engine.report import Examined, Shown
from ..replies.words import ACCEPT, NO, PROBLEMATIC, YES
from . import agreement, baselines
from .data import Rows
from .rows import ACCEPTED, SCALE, Extraction, Relevance, Response

BETTER = (str(SCALE[-1]), str(SCALE[0]))
"""The personalized response is much better, in both orders."""

UNDER_CONTROL = Examined(
    said_notes=(
        "Under the control nothing is right or wrong: people judged the users' own attributes. Compare how much is selected, not "
        "the accuracy.",
    )
)
"""In place of baselines."""


def relevance(rows: Rows[Relevance], asked: Collection[str]) -> Examined:
    """See `ReportSpec.examine`. Profiles, the share of YES and people's agreement are those of all rows, asked or not."""
    if any(row.other for row in rows):
        return UNDER_CONTROL
    said, notes = baselines.relevance(rows.cases)
    votes = [(row.user_id, [YES if vote else NO for vote in row.votes]) for row in (*rows.cases, *rows.tied)]
    prompts = {row.id: row.prompt for row in rows}
    return Examined(said=said, said_notes=notes, agreement=agreement.of_labels(votes, (YES, NO)), prompts=prompts)


def extraction(rows: Rows[Extraction], asked: Collection[str]) -> Examined:
    """See `ReportSpec.examine`. Uncertain and rejected count together, as in the scores."""
    votes = [
        (row.user_id, [ACCEPT if vote == ACCEPTED else PROBLEMATIC for vote in row.votes])
        for row in (*rows.cases, *rows.tied)
    ]
    said = {f"always {label}": _always(rows, (label,)) for label in (PROBLEMATIC, ACCEPT)}
    return Examined(said=said, agreement=agreement.of_labels(votes, (PROBLEMATIC, ACCEPT)))


def response(rows: Rows[Response], asked: Collection[str]) -> Examined:
    """See `ReportSpec.examine`."""
    if any(row.other for row in rows):
        return UNDER_CONTROL
    middle = str(SCALE[len(SCALE) // 2])
    return Examined(
        said={"always no difference": _always(rows, (middle, middle)), "always much better": _always(rows, BETTER)},
        agreement=agreement.of_ratings([(row.user_id, row.votes) for row in rows], SCALE),
        prompts={row.id: row.prompt for row in rows},
    )


def _always(rows: Iterable[Relevance | Extraction | Response], answers: Answers) -> dict[str, Answers]:
    return {row.id: answers for row in rows}


def shown_relevance(rows: Rows[Relevance], asked: Collection[str]) -> Shown:
    """See `ReportSpec.shown`."""
    there = [row for row in rows if row.id in asked]
    return Shown(
        questions={row.id: row.prompt for row in there},
        question="Prompt",
        texts={
            row.id: {
                "About the user": row.shown,
                "People": _people(YES if row.majority else NO, row.majority, row.votes),
            }
            for row in there
        },
    )


def shown_extraction(rows: Rows[Extraction], asked: Collection[str]) -> Shown:
    """See `ReportSpec.shown`."""
    there = [row for row in rows if row.id in asked]
    return Shown(
        questions={row.id: row.attribute for row in there},
        question="Attribute",
        texts={
            row.id: {
                "Reason": row.reason,
                "Conversation": "\n\n".join(f"{message.role}: {message.content}" for message in row.conversation),
                "People": _people(
                    PROBLEMATIC if row.majority else ACCEPT, row.majority, [vote != ACCEPTED for vote in row.votes]
                ),
            }
            for row in there
        },
    )


def shown_response(rows: Rows[Response], asked: Collection[str]) -> Shown:
    """See `ReportSpec.shown`."""
    there = [row for row in rows if row.id in asked]
    return Shown(
        questions={row.id: row.prompt for row in there},
        question="Prompt",
        texts={
            row.id: {
                "About the user": row.shown,
                "People": f"{row.mean:.2f} on average: {', '.join(map(str, sorted(row.votes)))}",
            }
            for row in there
        },
        labels=("personalized", "generic"),
        responses={row.id: (row.personalized, row.generic) for row in there},
    )


def _people(label: str, majority: bool | None, votes: Sequence[Hashable]) -> str:
    return f"{label}: {Counter(votes)[majority]} of {len(votes)} people" if votes else label
