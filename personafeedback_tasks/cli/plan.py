"""The command for what one should know before a run: plan."""

from __future__ import annotations

from pathlib import Path

import click

from ..common.errors import require
from ..core.plan import asked, benchmark_of, make_plan
from ..core.usage import Prices
from ..personafeedback.cases import present_cells
from ..personafeedback.cells import PAPER_COUNTS
from ..personafeedback.record import PERSONAFEEDBACK
from ..personafeedback.release import locate
from .options import given_options, json_option, price_option, task_option
from .output import needs_tables, say, show, write_json


@click.command()
@click.argument("task", required=False)
@task_option("such as data=FOLDER, setting=persona,no_persona or method=cot")
@click.option(
    "--reply-tokens",
    type=click.IntRange(0),
    metavar="N",
    help="Tokens of a reply as you expect them, thoughts included. Default: the limit of the method, an upper bound.",
)
@price_option
@json_option
def plan(
    task: str | None,
    given: tuple[str, ...],
    reply_tokens: int | None,
    prices: Prices | None,
    json_file: Path | None,
) -> None:
    """Plan a run: calls, tokens, price, and the smallest difference that it can show.

    TASK is a task's name in either harness. Default: the first one of docs/options.md whose cells the data have. Asks no model. Data are
    checked as a run checks them, so an error here is what the run would say.

    \b
        personafeedback plan
        personafeedback plan personafeedback_general_hard -T data=FOLDER
        personafeedback plan -T data=FOLDER -T method=cot -T setting=no_persona
        personafeedback plan -T data=FOLDER -T setting=persona,other_persona,no_persona --price 2.5,10
        personafeedback plan personafeedback_write -T data=sample --json plan.json
        personafeedback plan recenter_relevance_select -T data=sample
    """
    needs_tables(json_file)
    require("scipy", extra="report")
    record = benchmark_of(task) if task else PERSONAFEEDBACK
    told = given_options(given)
    data = told.get("data")
    chosen = task or _largest(data)
    selection, of = asked(record, chosen, told.pop("method", None))
    every = record.options_of({**told, "method": of.name}, record.options.strict)
    cases = record.cases(every[0], record.selections[selection])
    made = make_plan(record, selection, cases, every, reply=reply_tokens, prices=prices)
    from ..reports.plan_text import blocks

    if write_json(json_file, made.document):
        say(f"Task: {made.task}, method {of.name}")
        if task is None and chosen != record.task("") and made.cases.named_set is None:
            say(f"      (the data have no file for some cells of {record.task('')})")
        say(f"Data: {made.cases.revision}")
        say()
        show(blocks(made))


def _largest(data: str | None) -> str:
    # of a set the task that asks all its cells; else the whole benchmark, whose error says what is missing
    present, is_set = present_cells(data), locate(data).manifest is not None
    for selection, narrowed in PERSONAFEEDBACK.selections.items():
        cells = [cell for cell in PAPER_COUNTS if set(narrowed.values()) <= set(cell)]
        if all(cell in present for cell in cells) and (len(cells) == len(present) or not is_set):
            return PERSONAFEEDBACK.task(selection)
    return PERSONAFEEDBACK.task("")
