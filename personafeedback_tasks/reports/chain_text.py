"""A chain as text: the score of each step from conversations to a reply."""

from __future__ import annotations

from ..recenter.funnel import STEPS, ChainDocument
from .blocks import Block, bullets, signatures
from .table import Table, measured


def blocks(document: ChainDocument) -> list[Block]:
    """The notes on each model, one table of all, and the signature of each run."""
    funnels = document.models
    columns, meanings = [], []
    for step in STEPS:
        if any(step.key in funnel.steps for funnel in funnels):
            columns += measured(step, [funnel.steps.get(step.key) for funnel in funnels])
            meanings.append(f"{step.label}: {step.meaning}.")
    return [
        *(bullets(funnel.notes, f"{funnel.model}:") for funnel in funnels),
        Table("", tuple(funnel.model for funnel in funnels), tuple(columns), whole=True),
        bullets([*meanings, "Intervals: over users, and over prompts as well where users share them."]),
        signatures({f"{one.model}, {task}": line for one in funnels for task, line in one.signatures.items()}),
    ]
