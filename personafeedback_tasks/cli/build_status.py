"""The commands of a build that ask nobody: build init, build plan, build status."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ..building import plan as building_plan
from ..building import starting
from ..building import status as building_status
from ..building.folder import Folder
from ..building.steps import PERSONAS
from ..building.texts.answers import balance_line
from ..building.texts.pairs import KINDS
from .build_options import folder_argument
from .output import say


@click.command()
@folder_argument
@click.option(
    "--language",
    metavar="CODE",
    help="Of the set, such as zh or de. Prompts come in English and Chinese.  [default: en]",
)
@click.option("--name", help="Of the set.")
def init(folder: Path, language: str | None, name: str | None) -> None:
    """Start a build: settings, prompts and example seeds to edit.

    \b
    build.yaml     what you decide about the set, each setting with its meaning
    prompts/*.md   what models are told; {{persona}} and the like are filled in
    seeds.jsonl    short profiles that personas are written from: replace them

    What is already there stays as it is. You may also bring:

    \b
    persona/<user_id>.json   your own personas, as in the release
    memory/<user_id>.jsonl   what a user read: one {"text": "..."} per line
    questions.csv            your own questions: user_id, category, question
    pool.jsonl               questions that people asked: one {"question": "..."} per line

    \b
        personafeedback build init DIR --language zh --name "Our users"
    """
    written, present = starting.start(folder, language, name)
    for path in written:
        say(f"Wrote {path}")
    for path in present:
        say(f"Already there, unchanged: {path}")
    say(f"Next: {PERSONAS.line(folder)}")


@click.command()
@folder_argument
def status(folder: Path) -> None:
    """Print what is done, what was refused, what the calls took, and the next command.

    Tokens are those that the providers counted, from logs/. A text that a killed run wrote counts once; calls that failed, or were under
    way when a run was killed, are not counted.
    """
    where = building_status.status(Folder.of_build(folder))
    _columns([("step", "done"), *where.steps])
    for kind in where.balances:
        say(balance_line(kind))
    if where.refused:
        say()
        counts = ((*key, str(count)) for key, count in sorted(where.refused.items()))
        _columns([("refused in", "reason", "texts"), *counts])
    if where.spent:
        say()
        total = ("total", "", *map(sum, zip(*(row[2:] for row in where.spent), strict=True)))
        _columns(
            [
                ("spent in", "model", "calls", "input tokens", "output tokens"),
                *((str(row[0]), str(row[1]), *(f"{number:,}" for number in row[2:])) for row in [*where.spent, total]),
            ]
        )
    if where.unread:
        say(f"{where.unread} logs under logs/ could not be read: what they took is not counted.")
    say()
    if where.edited:
        say(f"! {where.edited}")
        say("Next: put these texts back, or have the pairs voted on again.")
    else:
        say(f"Next: {where.next}" if where.next else f"Done: {folder / 'release'}")


@click.command()
@folder_argument
@click.option(
    "--size",
    type=click.IntRange(1),
    metavar="N",
    help="Pairs that people vote on.  [default: those of `personas` in build.yaml]",
)
@click.option("--models", type=click.IntRange(1), default=2, show_default=True, help="How many models answer.")
def plan(folder: Path, size: int | None, models: int) -> None:
    """Print the calls, tokens and votes to buy, before anything is spent.

    Counts the whole build with the settings of build.yaml. Persons that are in people.csv keep their split and are not written again;
    `personas` are written on top of your own. Tokens are estimates, with the assumptions that are printed.

    \b
        personafeedback build plan DIR --size 600
    """
    build = Folder.of_build(folder)
    made, settings = building_plan.plan(build, size, models), build.settings
    say(
        f"{made.pairs} pairs of {made.test} test persons; {made.persons} persons and {made.questions} questions in all; {models} models answer"
    )
    if made.personas != settings.personas:
        say(
            f"Set personas: {made.personas} in {folder / 'build.yaml'} (it has {settings.personas}), or bring your own personas."
        )
    say(f"Votes to buy: {made.votes:,} ({settings.annotators} to each pair)")
    say()
    numbers = [(one.calls, one.input_tokens, one.output_tokens) for one in made.calls]
    names = [*(one.what for one in made.calls), "total"]
    lines = [*numbers, tuple(map(sum, zip(*numbers, strict=True)))]
    _columns(
        [
            ("calls", "number", "input tokens", "output tokens"),
            *((name, *(f"{number:,}" for number in line)) for name, line in zip(names, lines, strict=True)),
        ]
    )
    say()
    known = "assumed" if made.assumed else "the mean of this build"
    for line in (
        f"a persona has {made.persona_tokens} tokens ({known}), an answer {building_plan.ANSWER}, a question {building_plan.QUESTION}",
        f"each question has all of its {len(KINDS)} pairs: no text fails or is refused, and screening drops nobody",
        "memory is not counted, nor thinking of models that think, nor attention items",
        f"pairs on which less than {settings.hard} of the votes agree are left out of the set: plan for more than it is to have",
    ):
        say(f"Assumed: {line}.")
    say(f"Next: {PERSONAS.line(folder)}")


def _columns(rows: Sequence[Sequence[str]]) -> None:
    """Print lines with their columns below each other; numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = [cell.replace(",", "").isdigit() for cell in rows[-1]]
    for row in rows:
        cells = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numbers, strict=True)
        )
        say("  ".join(cells).rstrip())
