"""Each model's gain from knowing the user beside what that costs, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.balance import COST, GAIN, SWAP, Balance
from .blocks import Block, paragraph
from .table import Column, Table, with_interval

MEANINGS = {
    GAIN: "with the persona minus without, in points",
    SWAP: "50 without the person",
    COST: "of the calls that are right without the user's memory, those that its wrong memory turns; lower is better",
}
OF_TASKS = "cost on a task: the points of its own score that a user's profile takes; lower is better, and below 0 the profile helps."


def blocks(found: Sequence[Balance]) -> list[Block]:
    """Each model's gain from knowing the user, and its cost; nothing where not both are known."""
    if not found:
        return []
    names = dict.fromkeys([*MEANINGS, *(name for one in found for name in one.costs)])
    columns: list[Column] = []
    said = []
    for name in names:
        estimates = [one.values.get(name) for one in found]
        if any(estimates):
            columns += with_interval(name, estimates, sign=name not in (SWAP, COST))
            said += [f"{name}: {MEANINGS[name]} ({found[0].titles[name]})."] if name in MEANINGS else []
    said += [OF_TASKS] if {*names} - {*MEANINGS} else []
    return [
        Table(
            "Gain where the person matters, cost where the person must not matter",
            tuple(one.model for one in found),
            tuple(columns),
            corner="model",
        ),
        paragraph(" ".join(said), dim=True),
    ]
