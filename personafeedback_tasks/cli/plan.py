"""The command for what one should know before a run: plan."""

from __future__ import annotations

import math

import click

from ..common.errors import require
from ..common.tokens import counted_by, estimated
from ..engine.method import HARNESSES
from ..engine.plan import CORRELATIONS, RUNS, Limit, Plan, asked, benchmark_of, make_plan
from ..personafeedback.cases import COUNTS, present_cells
from ..personafeedback.cells import PAPER_COUNTS
from ..personafeedback.record import PERSONAFEEDBACK
from ..personafeedback.release import ask_hub, locate
from .output import json_option, needs_tables, say, show_table, write_json


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
    "--task", help="A task of either harness. Default: the first one in README's list whose cells the data have."
)
@click.option("--method", help="As -T method= in Inspect; in lm-eval the end of the task's name.")
@click.option("--setting", help="What the model is told about the user. Default: persona.")
@click.option(
    "--difference",
    type=click.FloatRange(0, 100, min_open=True),
    default=3.0,
    show_default=True,
    metavar="POINTS",
    help="The difference between two runs that you want to see, in percentage points of accuracy.",
)
@click.option(
    "--tokenizer",
    metavar="NAME",
    help="Count tokens with the tokenizer in this folder or Hub repository (needs transformers). Default: an estimate.",
)
@json_option
def plan(
    data: str | None,
    counts: str | None,
    task: str | None,
    method: str | None,
    setting: str | None,
    difference: float,
    tokenizer: str | None,
    json_file: str | None,
) -> None:
    """Plan a run: are the data complete, how many calls and tokens, how many cases show a difference?

    Asks no model. Data are checked as a run checks them, so an error here is what the run would say.

    \b
        personafeedback plan
        personafeedback plan --data FOLDER --task personafeedback_general_hard
        personafeedback plan --data FOLDER --method cot --setting no_persona
        personafeedback plan --data FOLDER --difference 5
        personafeedback plan --data FOLDER --tokenizer MODEL --json plan.json
        personafeedback plan --data sample --task recenter_relevance_select
    """
    needs_tables(json_file)
    require("scipy", extra="report")
    record = benchmark_of(task) if task else PERSONAFEEDBACK
    if record is PERSONAFEEDBACK and (fetched := ask_hub(data)):
        say(f"The Hub answers and has {fetched}. It is not on this machine yet and is fetched now.", err=True)
    chosen = task or _largest(data)
    selection, of = asked(record, chosen, method)
    given = {"method": of.name, "setting": setting, "data": data, "counts": counts}
    options = record.options.strict({name: value for name, value in given.items() if value is not None})
    count = counted_by(tokenizer) if tokenizer else estimated
    made = make_plan(
        record, selection, record.load(options, record.selections[selection]), options, difference / 100, count
    )
    if write_json(json_file, {**made.as_dict(), "tokenizer": tokenizer}):
        say(f"Task: {made.task}, method {of.name}")
        if task is None and chosen != record.task("") and made.cases.named_set is None:
            say(f"      (the data have no file for some cells of {record.task('')})")
        say(f"Data: {made.cases.revision}")
        say()
        _show_work(made, tokenizer)
        if made.shown:
            _show_differences(made, list(of.harnesses))


def _largest(data: str | None) -> str:
    """The first task all of whose cells the data have, of a set the one that has no others; without one, the whole benchmark,
    whose error then says what is missing."""
    there, is_set = present_cells(data), locate(data).manifest is not None
    for selection, narrowed in PERSONAFEEDBACK.selections.items():
        cells = [cell for cell in PAPER_COUNTS if set(narrowed.values()) <= set(cell)]
        if all(cell in there for cell in cells) and (len(cells) == len(there) or not is_set):
            return PERSONAFEEDBACK.task(selection)
    return PERSONAFEEDBACK.task("")


def _show_work(made: Plan, tokenizer: str | None) -> None:
    document, work, cases = made.as_dict(), made.work, len(made.cases)
    cells = [(cell.replace("_", " "), f"{of['cases']:,}", of["users"]) for cell, of in document["cells"].items()]
    show_table(
        "Cells, each with the number of cases that it must have" if made.expected else "Cells, their numbers unchecked",
        ["", "cases", "users"],
        [*cells, *([("total", f"{cases:,}", document["users"])] if len(cells) > 1 else [])],
    )
    rows = [
        ("calls", f"{work.calls:,}", f"{work.calls / cases:.3g}", ""),
        ("prompt tokens", f"{work.prompt_tokens:,}", f"{work.prompt_tokens / cases:,.0f}", f"{work.longest:,}"),
    ]
    if work.room:
        each = f"{work.reply_tokens / cases:,.0f}"
        rows.append(("reply tokens, at most", f"{work.reply_tokens:,}", each, f"{work.room:,}"))
    show_table("What a run takes", ["", "in all", "per case", "longest call"], rows)
    if tokenizer:
        say(f"Tokens: counted by {tokenizer}, without those of a chat template.")
    else:
        say(
            "Tokens: an ESTIMATE from characters, within 15 % in all for Qwen and DeepSeek; a vocabulary without Chinese has "
            "up to twice as many for Chinese prompts. --tokenizer NAME counts."
        )
    say(
        f"Prefix cache: {work.repeated:.0%} of the characters repeat the beginning of another prompt; no more is served."
    )
    if work.room:
        say(f"Context (max_length, max_model_len): {work.longest + work.room:,} tokens, the longest prompt and reply.")
    say()


def _show_differences(made: Plan, harnesses: list[str]) -> None:
    correlation = made.shown[0].comparison.correlation
    header = [text for name in harnesses for text in (f"{HARNESSES[name]} --limit", "cases", "users")]
    show_table(
        f"The --limit that shows {100 * made.difference:g} points between two runs, at 80 % power, 5 % two-sided",
        ["two runs", *header],
        [
            (one.comparison.name, *(text for name in harnesses for text in _limit(one.limits[name])))
            for one in made.shown
        ],
    )
    if any(limit is None for one in made.shown for limit in one.limits.values()):
        say("–: not even all cases of the task do.")
        say()
    show_table(
        f"What all {len(made.cases):,} cases show, in points, by the correlation r of a user's cases",
        ["two runs", *(f"r={by:g}" for by in sorted({*CORRELATIONS, correlation})), "half the time", f"{RUNS} runs"],
        [
            (one.comparison.name, *map(_points, (one.low, one.smallest, one.high, one.half, one.ranked)))
            for one in made.shown
        ],
    )
    say(f"r is not known before a run: the --limit above, and the last two columns, assume {correlation:g}.")
    say("half the time: a true difference of this size is significant in half of all benchmarks, not in 80 %.")
    say(f"{RUNS} runs: what `rank` shows between two of {RUNS} runs, whose {math.comb(RUNS, 2)} pairs share the 5 %.")
    say("paired: the same cases, as in `compare` and `rank`; in so many one run is right and the other wrong.")
    say("unpaired: other cases, or only a number from a card; accuracies of 75 %.")
    say("lm-eval counts --limit per cell, Inspect per task.")


def _points(difference: float) -> str:
    return "–" if math.isnan(difference) else f"{100 * difference:.1f}"


def _limit(found: Limit | None) -> tuple[str, str, str]:
    return ("–", "–", "–") if found is None else (f"{found.limit:,}", f"{found.cases:,}", f"{found.users:,}")
