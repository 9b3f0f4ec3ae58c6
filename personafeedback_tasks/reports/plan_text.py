"""A run's costs and the differences that it can show, on a terminal."""

from __future__ import annotations

from ..core.plan import Plan
from ..stats.estimates import percent
from .blocks import Block, paragraph
from .costs_text import money
from .table import of_rows, spaced

ESTIMATED = (
    "Tokens: an ESTIMATE from characters, within 15 % in all for Qwen and DeepSeek; a vocabulary without Chinese has up to twice as many for "
    "Chinese prompts."
)


def blocks(plan: Plan) -> list[Block]:
    """The tables of a plan."""
    return [
        *_cells(plan),
        *_takes(plan),
        *(_differences(plan) if plan.smallest else []),
        *(_detects(plan) if plan.detects else []),
    ]


def _cells(plan: Plan) -> list[Block]:
    document = plan.document
    rows = [(spaced(cell), f"{size.cases:,}", size.users) for cell, size in document.cells.items()]
    if len(rows) > 1:
        rows.append(("total", f"{len(plan.cases):,}", document.users))
    checked = ", each with the number of cases that it must have" if plan.expected else ", their numbers unchecked"
    return [of_rows(f"Cells{checked}", ["", "cases", "users"], rows)]


def _takes(plan: Plan) -> list[Block]:
    asks = {**plan.asks, **({"total": plan.total} if len(plan.asks) > 1 else {})}
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
    notes = [ESTIMATED]
    if plan.max_tokens:
        replies = f"Replies of {plan.reply:,} token{'' if plan.reply == 1 else 's'} each"
        if plan.is_bound:
            replies += ", the limit: an UPPER BOUND. --reply-tokens takes what you expect; a short run's report has what they took"
        notes += [
            f"{replies}.",
            f"Context (max_length, max_model_len): {plan.longest + plan.max_tokens:,} tokens, the longest prompt and reply.",
        ]
    if plan.prices:
        notes.append(f"At {plan.prices.input:g} and {plan.prices.output:g} dollars per million tokens.")
    return [of_rows("What a run takes", header, rows), *map(paragraph, notes), paragraph()]


def _detects(plan: Plan) -> list[Block]:
    title = "The smallest score above chance that the cases show, at 80 % power, 5 % two-sided"
    rows = [
        (spaced(name), percent(one, sign=True) if one <= 0.5 else "too few cases") for name, one in plan.detects.items()
    ]
    note = "Cases that share a user or the question are taken to correlate as those of baselines do."
    return [of_rows(title, ["", "points"], rows), paragraph(note)]


def _differences(plan: Plan) -> list[Block]:
    assumed, _ = plan.smallest[0]
    effect = assumed.design_effect(plan.sizes)
    notes = (
        "paired: right minus wrong of one run, or two runs on the same cases; the percentage is the share of cases on which one is right and the "
        "other wrong.",
        "unpaired: other cases, or only a number from a card; accuracies of 75 %.",
        f"Two cases of a user are taken to correlate by {assumed.correlation:g}: a design effect of {effect:.2f}.",
    )
    return [
        of_rows(
            f"The smallest difference that all {len(plan.cases):,} cases show, at 80 % power, 5 % two-sided",
            ["", "points"],
            [(comparison.name, percent(smallest)) for comparison, smallest in plan.smallest],
        ),
        *map(paragraph, notes),
    ]
