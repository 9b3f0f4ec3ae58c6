"""The command of a build that has models write texts, and the options that commands of a build share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..building.build import Build
from ..building.status import show_texts
from ..building.steps import TEXTS
from ..building.texts.asking import Models
from ..building.texts.runner import write_texts
from .options import Decorator, given_options, several
from .output import progress, say

_DIR = click.Path(file_okay=False, path_type=Path)

folder_argument = click.argument("folder", metavar="DIR", type=_DIR)

build_argument = click.argument("folder", metavar="DIR", type=_DIR, callback=lambda _, __, path: Build.open(path))
"""As `folder_argument`, of a build that was started."""


def model_options(without: str) -> Decorator:
    """The options of a command that asks models; `without` says what it does without one."""
    return several(
        click.option(
            "--model", "names", metavar="MODEL", multiple=True,
            help=f"Model that writes, as Inspect names it: openai/gpt-4o. Repeat for several. {without}",
        ),
        click.option(
            "-M", "arguments", multiple=True, metavar="NAME=VALUE",
            callback=lambda _, __, given: given_options(given, "-M"),
            help="Argument of all models, as in Inspect: -M base_url=URL. May be repeated.",
        ),
        click.option(
            "--batch", is_flag=True,
            help="Ask by the provider's batch interface: most answer within a day, at half the price.",
        ),
        click.option("--max-tokens", type=click.IntRange(1), help="Limit on each text; the provider's by default."),
        click.option("--temperature", type=click.FloatRange(0), help="The provider's by default."),
    )  # fmt: skip


@click.command()
@build_argument
@click.argument("step", metavar="[STEP]", required=False, type=click.Choice([step.name for step in TEXTS]))
@model_options("Without one, only what you brought is taken.")
def texts(folder: Build, step: str | None, names: tuple[str, ...], **options: Any) -> None:
    """Have models write what is missing: the texts of one STEP, or of all of them, one after another.

    \b
    personas   profiles from seeds.jsonl, and your own of persona/, into people.csv
    questions  specific ones for a drawn scenario, general ones from pool.jsonl, and your own lines
    answers    to each question, and the pairs of them that people compare

    \b
        personafeedback build texts DIR --model openai/gpt-4o --model openai/gpt-4o-mini
        personafeedback build texts DIR questions --model openai/gpt-4o

    Name all models at once: the first writes personas and questions; all of them answer, and among their answers each
    pair is chosen so that the better informed one is as often the longer as the shorter one.

    You may name the steps one by one, and screen people.csv and questions.csv (and pool.csv) in between: keep = no
    drops a line, with a reason of your own.

    Run it again, with the same options, after it was killed or after a text failed: only what is missing is asked.
    What is refused is asked for again with another seed, at most three times, and kept in refused.jsonl with the
    reason; remove its lines there, and it is asked for anew.
    """
    with progress() as show:
        models = Models(tuple(dict.fromkeys(names)), **options, show=show)
        write_texts(folder, models, say, step or "")
    show_texts(folder, say)
