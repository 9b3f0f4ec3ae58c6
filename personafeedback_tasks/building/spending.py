"""Models of a build: tokens of their calls, texts written, and texts accepted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..common.errors import require
from ..core.usage import Usage, total
from .folder import Folder
from .models import Models
from .rows import OWN, Origin, PoolQuestion, Refused, kept
from .steps import ANSWERS, PERSONAS, QUESTIONS, STEPS, Step

SPENT = ("step", "model", "calls", "input tokens", "output tokens")
"""The header of `spent_rows`."""


def used_models(folder: Folder, step: Step) -> Models:
    """Models that wrote a step's texts; if none did, those of the last step before it."""
    of_text: dict[str, dict[str, None]] = {}
    for origin in folder.read(Origin):
        if origin.model != OWN:
            of_text.setdefault(origin.kind, {})[origin.model] = None
    before = STEPS[STEPS.index(step) :: -1] if step.asks_models else ()
    return Models(tuple(next((of_text[one.text] for one in before if one.text in of_text), ())))


def spent_rows(root: Path) -> tuple[list[Sequence[str]], int]:
    """(rows of calls and tokens by step and model, with their sums, from the logs; number of unreadable logs)."""
    if not any((root / "logs").glob("*/*.eval")):
        return [], 0
    require("inspect_ai", extra="build")
    from ..inspect_harness.generation import spent

    usage, broken = spent(root)
    summed: list[tuple[tuple[str, str], Usage]] = [*usage.items(), (("total", ""), total(usage.values()))]
    rows: list[Sequence[str]] = [
        [*of, *(f"{number:,.0f}" for number in (took.calls, took.input, took.output))] for of, took in summed
    ]
    return rows if usage else [], broken


SPECIFIC, GENERAL = ":specific:", ":general:"
"""Parts of the ids of requests for the two kinds of questions."""

HEADER = ("yield of", "written", "taken", "%", "reworded")
"""Written includes refused texts; reworded texts were accepted after a model had rewritten them."""


def yield_rows(folder: Folder) -> list[tuple[str, ...]]:
    """Rows under HEADER, in the order of the steps, without empty ones."""
    origins = [origin for origin in folder.read(Origin) if origin.model != OWN]
    refused, pool = folder.read(Refused), folder.read(PoolQuestion)

    def of(kind: str, step: Step, slot: str = "", parent: str = "") -> tuple[str, int, int, int]:
        # `slot` is in the ids of refused texts, `parent` in a parent of accepted ones.
        taken = [one for one in origins if one.kind == step.text and any(parent in name for name in ("", *one.parents))]
        lost = sum(text.step == step.name and slot in text.id for text in refused)
        reworded = sum(any(name.startswith("draft:") for name in origin.parents) for origin in taken)
        return kind, len(taken) + lost, len(taken), reworded

    found = [
        of("personas", PERSONAS),
        of("specific questions", QUESTIONS, SPECIFIC, SPECIFIC),
        ("questions of the pool", len(pool), len(kept(pool)), 0),
        of("general questions", QUESTIONS, GENERAL, "pool:"),
        of("answers", ANSWERS),
    ]
    return [
        (kind, f"{written:,}", f"{taken:,}", f"{100 * taken / written:.0f}", f"{reworded:,}")
        for kind, written, taken, reworded in found
        if written
    ]
