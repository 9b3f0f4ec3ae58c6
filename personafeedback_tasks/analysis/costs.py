"""Calls, tokens and, at the user's prices, money of a run and its controls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..core.usage import ELSEWHERE, Prices, Usage, total
from ..logs.run import Run

TOTAL = "total"
"""Name of the last row, all others together."""


@dataclass(frozen=True)
class RunCost:
    """Usage and price of some calls."""

    asked: str  # the setting; `in no scored sample`; TOTAL
    usage: Usage  # of all calls, also those of cases that do not count
    answers: int = 0  # answered cases, each once per epoch; 0 where the calls are not about cases alone
    dollars: float = math.nan  # nan without prices


def costs(run: Run, controls: Mapping[str, Run], prices: Prices | None = None) -> tuple[RunCost, ...]:
    """Costs of the run, of each control, and of all together; empty where not even the calls were counted.

    Args:
        controls: value of the control's option -> the run under it.
    """

    def cost(asked: str, usage: Usage, answers: int = 0) -> RunCost:
        return RunCost(asked, usage, answers, prices.of(usage) if prices else math.nan)

    rows = [
        cost(name, one.usage, len(one.results))
        for name, one in {run.setting or "the run": run, **controls}.items()
        if not math.isnan(one.usage.calls) or one.usage.counted
    ]
    rows += [cost(ELSEWHERE, one.elsewhere) for one in (run, *controls.values()) if one.elsewhere.tokens]
    if len(rows) < 2:
        return tuple(rows)
    dollars = math.fsum(row.dollars for row in rows if not math.isnan(row.dollars))
    known = prices is not None and any(not math.isnan(row.dollars) for row in rows)
    return (*rows, RunCost(TOTAL, total(row.usage for row in rows), 0, dollars if known else math.nan))
