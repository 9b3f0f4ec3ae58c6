"""A run's costs and the differences that it can show, on a terminal."""

from __future__ import annotations

from ..core.plan import PlanDocument, PlannedCalls
from ..stats.estimates import percent
from .blocks import Block, paragraph
from .table import money, of_rows, spaced

ESTIMATED = (
    "Tokens: an ESTIMATE from characters, within 15 % in all for Qwen and DeepSeek; a vocabulary without Chinese has "
    "up to twice as many for Chinese prompts."
)


def blocks(plan: PlanDocument) -> list[Block]:
    """The tables of a plan."""
    return [
        paragraph(f"Task: {plan.task}, method {plan.options['method']}"),
        paragraph(f"Data: {plan.data}"),
        paragraph(),
        *_cells(plan),
        *_takes(plan),
        *(_differences(plan) if plan.comparisons else []),
        *(_detects(plan) if plan.detects else []),
    ]


def _cells(plan: PlanDocument) -> list[Block]:
    rows = [(spaced(cell), f"{size.cases:,}", size.users) for cell, size in plan.cells.items()]
    if len(rows) > 1:
        rows.append(("total", f"{plan.cases:,}", plan.users))
    is_checked = any(size.expected is not None for size in plan.cells.values())
    checked = ", each with the number of cases that it must have" if is_checked else ", their numbers unchecked"
    return [of_rows(f"Cells{checked}", ["", "cases", "users"], rows)]


def _takes(plan: PlanDocument) -> list[Block]:
    settings = dict(plan.settings)
    if len(settings) > 1:
        replies = sum(one.reply_tokens for one in settings.values())
        settings["total"] = PlannedCalls(plan.calls, plan.prompt_tokens, replies, plan.dollars)
    header = ["", "calls", "prompt tokens", "reply tokens", *(["dollars"] if plan.prices else [])]
    rows = [
        (
            name,
            f"{one.calls:,}",
            f"{one.prompt_tokens:,}",
            f"{one.reply_tokens:,}",
            *([money(one.dollars)] if plan.prices else []),
        )
        for name, one in settings.items()
    ]
    notes = [ESTIMATED]
    if plan.reply_tokens_of_a_call_at_most:
        each = plan.reply_tokens_of_a_call
        replies_of = f"Replies of {each:,} token{'' if each == 1 else 's'} each"
        if plan.is_upper_bound:
            replies_of += (
                ", the limit: an UPPER BOUND. --reply-tokens takes what you expect; a short run's report has what they "
                "took"
            )
        context = plan.longest_prompt_tokens + plan.reply_tokens_of_a_call_at_most
        notes += [
            f"{replies_of}.",
            f"Context (max_length, max_model_len): {context:,} tokens, the longest prompt and reply.",
        ]
    if plan.prices:
        notes.append(f"At {plan.prices.input:g} and {plan.prices.output:g} dollars per million tokens.")
    return [of_rows("What a run takes", header, rows), *map(paragraph, notes), paragraph()]


def _detects(plan: PlanDocument) -> list[Block]:
    title = "The smallest score above chance that the cases show, at 80 % power, 5 % two-sided"
    rows = [
        (spaced(name), percent(one, sign=True) if one <= 0.5 else "too few cases") for name, one in plan.detects.items()
    ]
    note = "Cases that share a user or the question are assumed to correlate as those of baselines do."
    return [of_rows(title, ["", "points"], rows), paragraph(note)]


def _differences(plan: PlanDocument) -> list[Block]:
    assumed = plan.comparisons[0]
    notes = (
        "paired: right minus wrong of one run, or two runs on the same cases; the percentage is the share of cases "
        "on which one is right and the other wrong.",
        "unpaired: other cases, or only a number from a card; accuracies of 75 %.",
        f"Two cases of a user are assumed to correlate by {assumed.correlation:g}: "
        f"a design effect of {assumed.design_effect:.2f}.",
    )
    return [
        of_rows(
            f"The smallest difference that all {plan.cases:,} cases show, at 80 % power, 5 % two-sided",
            ["", "points"],
            [(one.name, percent(one.smallest)) for one in plan.comparisons],
        ),
        *map(paragraph, notes),
    ]
