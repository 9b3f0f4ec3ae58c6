"""What the calls of a build took, and the tables of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..common.errors import require
from ..engine.usage import Prices, Usage, total

Took = tuple[tuple[str, ...], Usage]
"""The first cells of a row, and what its calls take."""

Spending = Sequence[Took]

TOKENS = ("input tokens", "output tokens")


def spent(root: Path) -> tuple[dict[tuple[str, str], Usage], int]:
    """((step, model) -> what its calls took, from the logs; how many logs could not be read: what those took is not counted)."""
    require("inspect_ai", extra="build")
    from ..inspect_harness import spent

    rows, broken = spent.spent(root)
    usage = {(row.step, row.model): Usage(row.texts, row.input_tokens, 0, row.output_tokens, 0) for row in rows}
    return usage, len(broken)


def usage_rows(rows: Spending, prices: Prices | None = None) -> list[Sequence[str]]:
    """The rows of a table: after the first cells the calls, TOKENS and, if their prices are known, dollars. The last row has the sums."""
    if not rows:
        return []
    names = ("total", *("" for _ in rows[0][0][1:]))
    cells: list[Sequence[str]] = []
    for first, usage in [*rows, (names, total(usage for _, usage in rows))]:
        dollars = [f"{prices.of(usage):,.2f}"] if prices else []
        cells.append([*first, *(f"{number:,.0f}" for number in (usage.calls, usage.input, usage.output)), *dollars])
    return cells
