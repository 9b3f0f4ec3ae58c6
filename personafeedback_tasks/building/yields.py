"""How many texts of each kind were written or chosen, and how many of these passed: what status and the data card show."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from .folder import Folder
from .rows import OWN, Origin, PoolQuestion, Refused, kept
from .steps import ANSWERS, MEMORY, PERSONAS, QUESTIONS

SPECIFIC, GENERAL = ":specific:", ":general:"
"""In the ids of what the two kinds of questions are asked under."""


class Yield(NamedTuple):
    """The texts of one kind.

    Attributes:
        written: those that were refused included.
        taken: that passed; reworded: of these, after a model had rewritten them.
    """

    kind: str
    written: int
    taken: int
    reworded: int


HEADER = ("yield of", "written", "taken", "%", "reworded")


def yields(folder: Folder) -> list[Yield]:
    """The yields of a build, in the order of its steps; those that models made nothing of are left out."""
    origins = [origin for origin in folder.read(Origin) if origin.model != OWN]
    refused = folder.read(Refused)

    def of(kind: str, origin_kind: str, step: str, part: str = "", origin_part: str = "") -> Yield:
        taken = [
            origin
            for origin in origins
            if origin.kind == origin_kind
            and (not origin_part or any(origin_part in parent for parent in origin.parents))
        ]
        lost = sum(text.step == step and part in text.id for text in refused)
        reworded = sum(any(parent.startswith("draft:") for parent in origin.parents) for origin in taken)
        return Yield(kind, len(taken) + lost, len(taken), reworded)

    pool = folder.read(PoolQuestion)
    found = [
        of("personas", "persona", PERSONAS.name),
        of("memories", "memory", MEMORY.name),
        of("specific questions", "question", QUESTIONS.name, SPECIFIC, SPECIFIC),
        Yield("questions of the pool", len(pool), len(kept(pool)), 0),
        of("general questions", "question", QUESTIONS.name, GENERAL, "pool:"),
        of("answers", "answer", ANSWERS.name),
    ]
    return [row for row in found if row.written]


def yield_rows(folder: Folder) -> list[tuple[str, ...]]:
    """The cells under HEADER."""
    return [
        (row.kind, f"{row.written:,}", f"{row.taken:,}", f"{100 * row.taken / row.written:.0f}", f"{row.reworded:,}")
        for row in yields(folder)
    ]


def writers(folder: Folder) -> list[str]:
    """`personas: openai/gpt-4o 18, brought 2`, of each kind of texts."""
    counts: dict[str, Counter[str]] = {}
    for origin in folder.read(Origin):
        counts.setdefault(f"{origin.kind}s", Counter())["brought" if origin.model == OWN else origin.model] += 1
    return [
        f"{kind}: {', '.join(f'{model} {count:,}' for model, count in of.most_common())}" for kind, of in counts.items()
    ]
