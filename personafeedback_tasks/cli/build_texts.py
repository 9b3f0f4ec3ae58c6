"""The command of a build that has models write texts, and the options that commands of a build share."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

from ..building.folder import Folder
from ..building.models import Batch, Models
from ..building.status import next_line
from ..building.texts.runner import MEANINGS, write_texts
from .options import Decorator, several
from .output import progress, say

_DIR = click.Path(file_okay=False, path_type=Path)

folder_argument = click.argument("folder", metavar="DIR", type=_DIR)

build_argument = click.argument("folder", metavar="DIR", type=_DIR, callback=lambda _, __, path: Folder.of_build(path))
"""As `folder_argument`, of a build that was started."""

model_arguments_option = click.option(
    "-M", "given", multiple=True, metavar="[MODEL:]KEY=VALUE",
    help="Argument of all models, as in Inspect, or of one: -M base_url=URL, -M openai/gpt-4o:base_url=URL. Repeatable.",
)  # fmt: skip

batch_option = click.option(
    "--batch", is_flag=False, flag_value="true", metavar="[SIZE]", callback=lambda _, __, text: _batch(text),
    help="Ask by the provider's batch interface, as Inspect does. Most providers answer within a day, at half the price.",
)  # fmt: skip


def _batch(text: str | None) -> Batch:
    if text is None or text == "true":
        return text is not None
    if text.isdecimal() and int(text):
        return int(text)
    raise click.BadParameter(f"expected nothing, or a number of requests, got {text!r}.")


DROPPED_PERSONAS: Mapping[str, str] = {
    "implausible": "job, behavior or way of life has no place in today's society",
    "idealized": "too good to be anybody, or contradicts itself",
    "stereotype": "theatrical, or a cliché",
    "common_job": "too many of this profession",
    "common_interests": "interests and habits are those of many others",
}
"""Reasons for which people drop a persona: Appendix B has the first three in its first round, on each persona; the others in its second,
on all of them together. A table takes any reason; these are offered, so that a report can count them.
"""

DROPPED_QUESTIONS: Mapping[str, str] = {
    "illogical": "makes no sense",
    "forced": "joins topics that have nothing to do with each other",
    "awkward": "nobody would put it so",
    "gives_away": "tells what the answer should have to know about the user",
    "factual": "has one right answer for everybody",
}
"""Reasons to drop a question. Appendix C has the first three; the others are ours, after section 3.2."""


def model_options(without: str) -> Decorator:
    """The options of a command that asks models; `without` says what it does without one."""
    return several(
        click.option(
            "--model", "names", metavar="MODEL", multiple=True,
            help=f"Model that writes, as Inspect names it: openai/gpt-4o. Repeat for several. {without}",
        ),
        model_arguments_option,
        batch_option,
        click.option("--max-tokens", type=click.IntRange(1), help="Limit on each text; the provider's by default."),
        click.option("--temperature", type=click.FloatRange(0), help="The provider's by default."),
    )  # fmt: skip


@click.command()
@build_argument
@click.argument("step", metavar="[STEP]", required=False, type=click.Choice([*MEANINGS]))
@model_options("Without one, only what you brought is taken.")
def texts(folder: Folder, step: str | None, names: tuple[str, ...], **options: Any) -> None:
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

    You may name the steps one by one, and screen people.csv and questions.csv (and pool.csv) in between: keep = no drops a line, with a reason
    of your own or one of those below.

    Run it again, with the same options, after it was killed or after a text failed: only what is missing is asked. With a higher
    --max-tokens, texts that were cut off are asked for again. What is refused is asked for again with another seed, at most three times.
    """
    with progress() as show:
        models = Models(tuple(dict.fromkeys(names)), **options, show=show)
        ran = write_texts(folder, models, say, step or "")
    say(next_line(folder, models, ran))


def _table(title: str, reasons: Mapping[str, str]) -> str:
    width = max(map(len, reasons))
    return "\n".join(["\n\n\b", title, *(f"  {name:<{width}}  {meaning}" for name, meaning in reasons.items())])


texts.help = cleandoc(texts.help or "") + "".join(
    [
        _table("Reasons to drop a person:", DROPPED_PERSONAS),
        _table("Reasons to drop a question:", DROPPED_QUESTIONS),
        *(_table(f"Refused in {step}, into refused.jsonl:", reasons) for step, reasons in MEANINGS.items()),
    ]
)
