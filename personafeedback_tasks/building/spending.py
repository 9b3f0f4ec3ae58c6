"""Which models a build asked, and what their calls took."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..common.errors import require
from ..core.usage import Usage, total
from .folder import Folder
from .models import Models
from .rows import OWN, Origin
from .steps import STEPS, Step

SPENT = ("step", "model", "calls", "input tokens", "output tokens")
"""The header of `spent_rows`."""


def used_models(folder: Folder, step: Step) -> Models:
    """The models that wrote a step's texts; if none did, those of the last step before it that some wrote for."""
    of_text: dict[str, dict[str, None]] = {}
    for origin in folder.read(Origin):
        if origin.model != OWN:
            of_text.setdefault(origin.kind, {})[origin.model] = None
    before = STEPS[STEPS.index(step) :: -1] if step.asks_models else ()
    return Models(tuple(next((of_text[one.text] for one in before if one.text in of_text), ())))


def spent_rows(root: Path) -> tuple[list[Sequence[str]], int]:
    """(the rows of a table of what the calls took, by step and model, with their sums, from the logs; how many logs could not be read)."""
    if not any((root / "logs").glob("*/*.eval")):
        return [], 0
    require("inspect_ai", extra="build")
    from ..inspect_harness.spent import spent

    usage, broken = spent(root)
    summed: list[tuple[tuple[str, str], Usage]] = [*usage.items(), (("total", ""), total(usage.values()))]
    rows: list[Sequence[str]] = [
        [*of, *(f"{number:,.0f}" for number in (took.calls, took.input, took.output))] for of, took in summed
    ]
    return rows if usage else [], broken
