"""The costs of a run as a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from ..analysis.costs import CostOfCalls
from .blocks import Block, paragraph
from .table import NOTHING, Column, Table

CACHED = "Cached input is priced as the other input: dollars are an upper bound."

COLUMNS: Mapping[str, Callable[[CostOfCalls], str]] = {
    "calls": lambda cost: _number(cost.calls),
    "input tokens": lambda cost: _number(cost.input_tokens),
    "of them cached": lambda cost: _number(cost.cached_tokens or math.nan),
    "output tokens": lambda cost: _number(cost.output_tokens),
    "of them thoughts": lambda cost: _number(cost.reasoning_tokens or math.nan),
    "dollars": lambda cost: money(cost.dollars),
}
"""Heading -> a row's text."""


def blocks(costs: Sequence[CostOfCalls]) -> list[Block]:
    """The costs of one run, and how its cached input is priced."""
    columns = tuple(Column(name, tuple(map(text, costs))) for name, text in COLUMNS.items())
    is_bound = any(cost.cached_tokens > 0 and not math.isnan(cost.dollars) for cost in costs)
    return [
        Table("Calls and tokens", tuple(cost.asked for cost in costs), columns, corner="", whole=True),
        *([paragraph(CACHED)] if is_bound else []),
    ]


def money(dollars: float) -> str:
    """Dollars as text, with cents as far as they matter."""
    return NOTHING if math.isnan(dollars) else f"{dollars:,.2f}" if dollars >= 1 or not dollars else f"{dollars:.2g}"


def _number(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{value:,.0f}"
