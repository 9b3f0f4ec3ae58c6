"""Each model's gain from knowing the user beside what that costs, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.balance import COST, GAIN, SWAP, Balance
from .blocks import Block, paragraph
from .table import Column, Table, with_interval

BALANCE = (
    (GAIN, "with the persona minus without, in points"),
    (SWAP, "50 without the person"),
    (COST, "of the calls that are right without the user's memory, those that its wrong memory turns; lower is better"),
)


def blocks(found: Sequence[Balance]) -> list[Block]:
    """Each model's gain from knowing the user, and its cost; nothing where not both are known."""
    if not found:
        return []
    columns: list[Column] = []
    for name in (GAIN, SWAP, COST):
        estimates = [one.values.get(name) for one in found]
        if any(estimates):
            columns += with_interval(name, estimates, sign=name == GAIN)
    names, titles = tuple(one.model for one in found), found[0].titles
    return [
        Table(
            "Gain where the person matters, cost where the person must not matter",
            names,
            tuple(columns),
            corner="model",
        ),
        paragraph(
            " ".join(
                f"{name}: {said} ({titles[name]})."
                for name, said in BALANCE
                if any(name in one.values for one in found)
            ),
            dim=True,
        ),
    ]
