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
class CostOfCalls:
    """Calls and tokens of a run under one setting.

    Attributes:
        asked: the setting; `in no scored sample`; `total`.
        calls: calls of the model.
        input_tokens: tokens of prompts.
        cached_tokens: those of them that a server had in its cache.
        output_tokens: tokens of replies.
        reasoning_tokens: those of them that are thoughts.
        answers: answered cases, each once per epoch.
        dollars: at the user's prices; null without.
    """

    asked: str
    calls: float
    input_tokens: float
    cached_tokens: float
    output_tokens: float
    reasoning_tokens: float
    answers: int
    dollars: float


def costs(run: Run, controls: Mapping[str, Run], prices: Prices | None = None) -> tuple[CostOfCalls, ...]:
    """Costs of the run, of each control, and of all together; empty where not even the calls were counted.

    Args:
        controls: value of the control's option -> the run under it.
    """
    asked = [
        (name, one.usage, len(one.results))
        for name, one in {run.setting or "the run": run, **controls}.items()
        if not math.isnan(one.usage.calls) or one.usage.counted
    ]
    asked += [(ELSEWHERE, one.elsewhere, 0) for one in (run, *controls.values()) if one.elsewhere.tokens]
    dollars = [prices.of(usage) if prices else math.nan for _, usage, _ in asked]
    rows = [_cost(*row, price) for row, price in zip(asked, dollars, strict=True)]
    if len(rows) > 1:
        known = [price for price in dollars if not math.isnan(price)]
        rows.append(_cost(TOTAL, total(usage for _, usage, _ in asked), 0, math.fsum(known) if known else math.nan))
    return tuple(rows)


def _cost(asked: str, usage: Usage, answers: int, dollars: float) -> CostOfCalls:
    return CostOfCalls(asked, usage.calls, usage.input, usage.cached, usage.output, usage.reasoning, answers, dollars)
