"""The command for what one should know before a run: plan."""

from __future__ import annotations

from pathlib import Path

import click

from ..common.errors import require
from ..common.tokens import counted_by, estimated
from ..core.plan import asked, benchmark_of, make_plan
from ..core.usage import Prices
from ..personafeedback.cases import COUNTS, present_cells
from ..personafeedback.cells import PAPER_COUNTS
from ..personafeedback.record import PERSONAFEEDBACK
from ..personafeedback.release import ask_hub, locate
from .options import given_options, json_option, price_options, task_option
from .output import needs_tables, say, show, write_json


@click.command()
@click.option(
    "--data",
    help="A folder with data/ and persona/, `sample`, or a Hub dataset id. "
    "Default: PERSONAFEEDBACK_DATA, else the pinned Hub release. For the tasks of recenter a folder with their rows; default: "
    "RECENTER_DATA.",
)
@click.option(
    "--counts",
    type=click.Choice(COUNTS),
    help="checked requires the number of cases per cell of the paper, or of a set's set.json; any accepts what is present. Default: as in a run.",
)
@click.option(
    "--task", help="A task of either harness. Default: the first one of docs/options.md whose cells the data have."
)
@click.option("--method", help="As -T method= in Inspect; in lm-eval the end of the task's name.")
@click.option(
    "--setting",
    help="What the model is told about the user, or several with commas between, as one run can ask them. Default: persona.",
)
@task_option("such as rag_filter=true")
@click.option(
    "--epochs", type=click.IntRange(1), default=1, metavar="N", help="How often each call is made, as in Inspect."
)
@click.option(
    "--tokenizer",
    metavar="NAME",
    help="Count tokens with the tokenizer in this folder or Hub repository (needs transformers). Default: an estimate.",
)
@click.option(
    "--reply-tokens",
    type=click.IntRange(0),
    metavar="N",
    help="Tokens of a reply as you expect them, thoughts included. Default: the limit of the method, an upper bound.",
)
@price_options("the model")
@json_option
def plan(
    data: str | None,
    counts: str | None,
    task: str | None,
    method: str | None,
    setting: str | None,
    given: tuple[str, ...],
    epochs: int,
    tokenizer: str | None,
    reply_tokens: int | None,
    prices: Prices | None,
    json_file: Path | None,
) -> None:
    """Plan a run: are the data complete, how many calls and tokens, what does it cost, which difference can it show?

    Asks no model. Data are checked as a run checks them, so an error here is what the run would say.

    \b
        personafeedback plan
        personafeedback plan --data FOLDER --task personafeedback_general_hard
        personafeedback plan --data FOLDER --method cot --setting no_persona
        personafeedback plan --data FOLDER --setting persona,other_persona,no_persona --price-in 2.5 --price-out 10
        personafeedback plan --data FOLDER --tokenizer MODEL --json plan.json
        personafeedback plan --data sample --task personafeedback_write --epochs 3
        personafeedback plan --data sample --task recenter_relevance_select
    """
    needs_tables(json_file)
    require("scipy", extra="report")
    record = benchmark_of(task) if task else PERSONAFEEDBACK
    if record is PERSONAFEEDBACK and (fetched := ask_hub(data)):
        say(f"The Hub answers and has {fetched}. It is not on this machine yet and is fetched now.", err=True)
    chosen = task or _largest(data)
    told = given_options(given, method=method, setting=setting, data=data, counts=counts)
    selection, of = asked(record, chosen, told.pop("method", None))
    every = record.options_of({**told, "method": of.name}, record.options.strict)
    count = counted_by(tokenizer) if tokenizer else estimated
    made = make_plan(
        record,
        selection,
        record.cases(every[0], record.selections[selection]),
        every,
        count,
        reply=reply_tokens,
        prices=prices,
        epochs=epochs,
    )
    from ..reports.plan_text import blocks

    if write_json(json_file, {**made.as_dict(), "tokenizer": tokenizer}):
        say(f"Task: {made.task}, method {of.name}")
        if task is None and chosen != record.task("") and made.cases.named_set is None:
            say(f"      (the data have no file for some cells of {record.task('')})")
        say(f"Data: {made.cases.revision}")
        say()
        show(blocks(made, tokenizer))


def _largest(data: str | None) -> str:
    # of a set the task that asks all its cells; else the whole benchmark, whose error says what is missing
    present, is_set = present_cells(data), locate(data).manifest is not None
    for selection, narrowed in PERSONAFEEDBACK.selections.items():
        cells = [cell for cell in PAPER_COUNTS if set(narrowed.values()) <= set(cell)]
        if all(cell in present for cell in cells) and (len(cells) == len(present) or not is_set):
            return PERSONAFEEDBACK.task(selection)
    return PERSONAFEEDBACK.task("")
