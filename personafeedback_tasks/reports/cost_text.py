"""The change that a message about a user makes in other tasks, in words and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..analysis.other_tasks import Changed, Cost, CostDocument, CostOfUser
from ..common import web
from ..core.report import DIFFERENCE, RATIO, SHARE, SIGNED
from .blocks import Block, bullets, paragraph
from .table import NOTHING, interval, number, of_rows

TITLE = "What knowing the user costs"

LISTED = 20
"""Samples that a terminal lists."""

PAGE = Path(__file__).with_name("page") / "cost"
HEADER = ("task", "setting", "samples", "without", "with", "change", "95 %", "95 % by user", "helped", "harmed")
COLUMNS = (
    "Without and with: the task's own score without the message and with it; the change is paired by sample, its "
    "intervals are over samples, and over users where these repeat. Scores between 0 and 1 are in percent."
)
"""Explains the columns of HEADER."""


def blocks(document: CostDocument) -> list[Block]:
    """The table, void runs above it, and the samples that change."""
    costs = document.costs
    return [
        bullets([one.warning for one in costs if one.void]),
        of_rows("", HEADER, [_row(one) for one in costs]),
        paragraph(COLUMNS),
        *(_listed(one) for one in costs if not one.void),
    ]


def _row(cost: CostOfUser) -> list[str]:
    first = [f"{cost.task}, {cost.model}", f"{cost.setting} {cost.told}".strip(), f"{cost.samples:,}"]
    if cost.by_sample is None:
        return [*first, *["void"] * 2, *[NOTHING] * 5]
    unit, of_change = (SHARE, DIFFERENCE) if cost.share else (RATIO, SIGNED)
    return [
        *first,
        number(cost.before, unit),
        number(cost.after, unit),
        number(cost.by_sample.value, of_change),
        interval(cost.by_sample, of_change),
        interval(cost.by_user, of_change),
        f"{len(cost.helped):,}",
        f"{len(cost.harmed):,}",
    ]


def _listed(cost: CostOfUser) -> Block:
    lines = []
    for word, changed in (("harmed", cost.harmed), ("helped", cost.helped)):
        more = f" and {len(changed) - LISTED:,} more (--json, --out)" if len(changed) > LISTED else ""
        lines += [f"{word}: {', '.join(changed[:LISTED])}{more}"] if changed else []
    lines += [f"{cost.left_out:,} samples are in only one of the two runs and were left out"] if cost.left_out else []
    return bullets(lines, f"{cost.title}, by {cost.value}:")


def page(costs: Sequence[Cost]) -> str:
    """Every sample of every run, those that change first, with the answers without and with the message."""
    runs = []
    for one in costs:
        samples = sorted(one.samples, key=lambda pair: (pair.gain == 0, pair.gain))
        runs.append((one.entry, list(map(_shown, samples))))
    rows = [_row(one.entry) for one in costs]
    return web.page(PAGE, {}, title=TITLE, header=HEADER, columns=COLUMNS, rows=rows, runs=runs)


def _shown(pair: Changed) -> dict[str, Any]:
    return {
        "kind": "harmed" if pair.gain < 0 else "helped" if pair.gain > 0 else "unchanged",
        "id": pair.told.id,
        "user": pair.told.user,
        "asked": pair.told.asked,
        "target": pair.told.target,
        "sides": [("without", pair.without.value, pair.without.replies), ("with", pair.told.value, pair.told.replies)],
    }
