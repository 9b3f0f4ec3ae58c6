"""The command for what one should know before a run: plan."""

from __future__ import annotations

from pathlib import Path

import click

from ..common.errors import require
from ..core.plan import chosen, make_plan
from ..core.usage import Prices
from .options import given_options, json_option, price_option, task_option
from .output import needs_tables, say, show, write_json


@click.command()
@click.argument("task", metavar="TASK")
@task_option("for example data=FOLDER, setting=persona,no_persona or method=cot")
@click.option(
    "--reply-tokens",
    type=click.IntRange(0),
    metavar="N",
    help="Expected tokens per reply, thinking included. Default: the method's limit, an upper bound.",
)
@price_option
@json_option
def plan(
    task: str,
    given: tuple[str, ...],
    reply_tokens: int | None,
    prices: Prices | None,
    json_file: Path | None,
) -> None:
    """Plan a run: calls, tokens, price, and the smallest difference that it can show.

    TASK is a task name in either harness. No model is called. The data are checked as in a run, so an error here is
    the one that the run would raise.

    \b
        personafeedback plan personafeedback_general_hard -T data=FOLDER
        personafeedback plan personafeedback -T data=FOLDER -T method=cot -T setting=no_persona
        personafeedback plan personafeedback -T data=FOLDER -T setting=persona,other_persona,no_persona --price 2.5,10
        personafeedback plan personafeedback_write -T data=sample --json plan.json
        personafeedback plan recenter_relevance_select -T data=sample
    """
    needs_tables(json_file)
    require("scipy", extra="report")
    record, selection, every = chosen(task, given_options(given))
    cases = record.cases(every[0], record.selections[selection])
    made = make_plan(record, selection, cases, every, reply=reply_tokens, prices=prices)
    from ..reports.plan_text import blocks

    if write_json(json_file, made):
        say(f"Task: {made.task}, method {every[0].method}")
        say(f"Data: {made.data}")
        say()
        show(blocks(made))
