"""What a run takes and what it can show, on a terminal."""

from __future__ import annotations

import math

from ..common.statistics import percent
from ..engine.method import HARNESSES
from ..engine.plan import CORRELATIONS, RUNS, Limit, Plan
from ..engine.usage import total
from .blocks import Block, paragraph
from .costs_text import money
from .table import NOTHING, of_rows, spaced

ESTIMATED = (
    "Tokens: an ESTIMATE from characters, within 15 % in all for Qwen and DeepSeek; a vocabulary without Chinese has up to twice as many for "
    "Chinese prompts. --tokenizer NAME counts."
)
NOT_SHOWN = f"{NOTHING}: the task is too small to show this difference."


def blocks(plan: Plan, tokenizer: str | None) -> list[Block]:
    """The tables of a plan.

    Args:
        tokenizer: what counted the tokens; None for an estimate.
    """
    return [*_work(plan, tokenizer), *_settings(plan), *(_differences(plan) if plan.shown else [])]


def _work(plan: Plan, tokenizer: str | None) -> list[Block]:
    document, work, cases = plan.as_dict(), plan.work, len(plan.cases)
    rows = [(spaced(cell), f"{of_cell['cases']:,}", of_cell["users"]) for cell, of_cell in document["cells"].items()]
    if len(rows) > 1:
        rows.append(("total", f"{cases:,}", document["users"]))
    takes = [
        ("calls", f"{work.calls:,}", f"{work.calls / cases:.3g}", ""),
        ("prompt tokens", f"{work.prompt_tokens:,}", f"{work.prompt_tokens / cases:,.0f}", f"{work.longest:,}"),
    ]
    context = []
    if work.room:
        each = f"{work.reply_tokens / cases:,.0f}"
        takes.append(("reply tokens, at most", f"{work.reply_tokens:,}", each, f"{work.room:,}"))
        context = [
            f"Context (max_length, max_model_len): {work.longest + work.room:,} tokens, the longest prompt and reply."
        ]
    counted = f"Tokens: counted by {tokenizer}, without those of a chat template." if tokenizer else ESTIMATED
    checked = ", each with the number of cases that it must have" if plan.expected else ", their numbers unchecked"
    return [
        of_rows(f"Cells{checked}", ["", "cases", "users"], rows),
        of_rows("What a run takes", ["", "in all", "per case", "longest call"], takes),
        paragraph(counted),
        paragraph(
            f"Prefix cache: {work.repeated:.0%} of the characters share a prefix with another prompt (upper bound for a prefix cache)."
        ),
        *map(paragraph, context),
        paragraph(),
    ]


def _settings(plan: Plan) -> list[Block]:
    """What each setting takes, where there are several, and money, where there are prices."""
    if len(plan.asks) == 1 and plan.prices is None:
        return []
    asks = dict(plan.asks)
    if len(asks) > 1:
        asks["total"] = total(plan.asks.values())
    header = ["", "calls", "prompt tokens", "reply tokens", *(["dollars"] if plan.prices else [])]
    rows = [
        (
            name,
            f"{usage.calls:,}",
            f"{usage.input:,}",
            f"{usage.output:,}",
            *([money(plan.dollars(usage))] if plan.prices else []),
        )
        for name, usage in asks.items()
    ]
    replies = f"Replies of {plan.reply:,} token{'' if plan.reply == 1 else 's'} each"
    replies += "".join(f" ({call}: {tokens:,})" for call, tokens in plan.longer.items())
    if plan.is_bound:
        replies += (
            ", the limit: an UPPER BOUND. --reply-tokens takes what you expect; a short run's report has what they took"
        )
    at = f" At {plan.prices.input:g} and {plan.prices.output:g} dollars per million tokens." if plan.prices else ""
    return [of_rows("By setting", header, rows), paragraph(f"{replies}.{at}"), paragraph()]


def _differences(plan: Plan) -> list[Block]:
    correlation = plan.shown[0].comparison.correlation
    harnesses = list(plan.shown[0].limits)
    header = [text for name in harnesses for text in (f"{HARNESSES[name]} --limit", "cases", "users")]
    is_too_small = any(limit is None for shown in plan.shown for limit in shown.limits.values())
    notes = (
        f"r is not known before a run: the --limit above, and the last two columns, assume {correlation:g}.",
        "half the time: a true difference of this size is significant in half of all benchmarks, not in 80 %.",
        f"{RUNS} runs: what `rank` shows between two of {RUNS} runs, whose {math.comb(RUNS, 2)} pairs share the 5 %.",
        "paired: the same cases, as in `compare` and `rank`; the percentage is the share of cases on which one run is right and the other wrong.",
        "unpaired: other cases, or only a number from a card; accuracies of 75 %.",
        "lm-eval counts --limit per cell, Inspect per task.",
    )
    return [
        of_rows(
            f"The --limit that shows {100 * plan.difference:g} points between two runs, at 80 % power, 5 % two-sided",
            ["two runs", *header],
            [
                (shown.comparison.name, *(text for name in harnesses for text in _limit(shown.limits[name])))
                for shown in plan.shown
            ],
        ),
        *([paragraph(NOT_SHOWN), paragraph()] if is_too_small else []),
        of_rows(
            f"What all {len(plan.cases):,} cases show, in points, by the correlation r of a user's cases",
            [
                "two runs",
                *(f"r={by:g}" for by in sorted({*CORRELATIONS, correlation})),
                "half the time",
                f"{RUNS} runs",
            ],
            [
                (
                    shown.comparison.name,
                    *map(percent, (shown.low, shown.smallest, shown.high, shown.half, shown.ranked)),
                )
                for shown in plan.shown
            ],
        ),
        *map(paragraph, notes),
    ]


def _limit(limit: Limit | None) -> tuple[str, str, str]:
    return (NOTHING,) * 3 if limit is None else (f"{limit.limit:,}", f"{limit.cases:,}", f"{limit.users:,}")
