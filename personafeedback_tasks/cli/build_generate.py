"""The commands of a build that make texts: init, personas, questions, answers; and plan and status, which say what they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import Any, TypeVar

import click

from ..building import plan as building_plan
from ..building import starting
from ..building import status as building_status
from ..building.folder import Folder
from ..building.texts import answers as building_answers
from ..building.texts import checks, screening
from ..building.texts import personas as building_personas
from ..building.texts import questions as building_questions
from ..building.texts.asking import Models, Report
from ..building.texts.pairs import KINDS
from .build_folder import folder_argument, model_arguments, then
from .output import say

F = TypeVar("F", bound=Callable[..., Any])


def _model_options(several: bool, required: bool) -> Callable[[F], F]:
    """The options of a step that asks models."""
    name = "Model that writes, as Inspect names it: openai/gpt-4o."
    options = [
        click.option(
            "--model", "names", metavar="MODEL", multiple=True, required=required,
            help=f"{name} Repeat for several." if several else f"{name} Without one, only your own are taken.",
        ),
        click.option("-M", "arguments", metavar="KEY=VALUE", multiple=True, help="Argument of the model, as in Inspect: -M base_url=URL."),
        click.option("--max-tokens", type=click.IntRange(1), help="Limit on each text; the provider's by default."),
        click.option("--temperature", type=click.FloatRange(0), help="The provider's by default."),
    ]  # fmt: skip

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


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
    then("personas", Folder(folder), "--model MODEL")


@click.command()
@folder_argument
@_model_options(several=False, required=False)
def personas(folder: Path, names: tuple[str, ...], **options: Any) -> None:
    """Write personas from seeds.jsonl, and take those that you put into persona/.

    Writes `personas` (build.yaml) profiles in the release's structure, each from a seed and drawn traits. A profile that lacks a part, is in
    another language or nearly repeats another one goes to refused.jsonl. Without --model only your own are taken. Each is a line of
    people.csv, which also splits persons into test (people vote on their pairs) and train.

    Screen people.csv: keep = no drops a person, with a reason such as
    """
    _show(building_personas.STEP, folder, building_personas.write_personas(Folder(folder), _one(names, options)))


@click.command()
@folder_argument
@_model_options(several=False, required=False)
def questions(folder: Path, names: tuple[str, ...], **options: Any) -> None:
    """Write questions for each person, choose general ones from pool.jsonl, and take your own.

    Specific questions are written for a drawn scenario with the shares of the paper's Table 5, and see some pieces of
    memory/<user_id>.jsonl if there is one. General ones are chosen for the person from questions that people asked. Refused: near
    duplicates, and questions that give the user away (by name, or by terms that few other personas have). Your own lines of questions.csv
    need user_id, category (specific or general) and question; they stay as they are.

    Screen questions.csv: keep = no drops a question, with a reason such as
    """
    _show(building_questions.STEP, folder, building_questions.write_questions(Folder(folder), _one(names, options)))


@click.command()
@folder_argument
@_model_options(several=True, required=True)
def answers(folder: Path, names: tuple[str, ...], **options: Any) -> None:
    """Have models answer each question three ways, rewrite, and choose the pairs that people compare.

    \b
    full       told the whole persona
    masked     told what is left of it: the same fields are hidden on every run
    question   told the question alone
    improved   the full answer, rewritten to the better (test persons only)
    degraded   the full answer, rewritten to the worse (test persons only)

    pairs.jsonl gets up to three pairs for each question of a test person: full and question (easy), full and masked, improved and degraded.
    Name all models at once: among their answers each pair is chosen so that the better informed one is as often the longer as the shorter
    one. Nothing is cut; the balance is printed.

    Run it again, with the same options, after it was killed or after a text failed: only what is missing is asked. With a higher
    --max-tokens, texts that were cut off are asked for again. Refused texts are in refused.jsonl:
    """
    models = _models(tuple(dict.fromkeys(names)), options)
    _show(building_answers.STEP, folder, building_answers.write_answers(Folder(folder), models))


for _command, *_tables in (
    (personas, screening.PERSONAS, building_personas.MEANINGS),
    (questions, screening.QUESTIONS, building_questions.MEANINGS),
    (answers, {**checks.MEANINGS, **building_answers.MEANINGS}),
):
    _between = "\n\nRefused texts are in refused.jsonl, with a reason:"
    _command.help = cleandoc(_command.help or "") + _between.join(
        f"\n\n\b\n{screening.as_text(one)}" for one in _tables
    )


def _one(names: tuple[str, ...], options: dict[str, Any]) -> Models | None:
    if len(names) > 1:
        raise click.BadParameter("takes one model here; `build answers` takes several.", param_hint="--model")
    return _models(names, options) if names else None


def _models(names: tuple[str, ...], options: dict[str, Any]) -> Models:
    return Models(names, model_arguments(options.pop("arguments")), **options)


def _show(step: str, folder: Path, report: Report) -> None:
    """Print what a step did; raise what it could not do, last."""
    for label, lines in (("Read", report.read), ("Wrote", report.wrote), ("", report.notes)):
        for line in lines:
            say(f"{label} {line}".strip())
    if report.refused:
        counts = ", ".join(f"{count} {reason}" for reason, count in sorted(report.refused.items()))
        say(f"Refused {report.refused.total()}: {counts} (refused.jsonl has the texts)")
    if report.failed:
        name, why = next(iter(report.failed.items()))
        say(
            f"Failed {len(report.failed)}: {name}: {why} Run the step again, with the same options, to ask for them again."
        )
    if report.error is not None:
        raise report.error
    if report.refused[checks.CUT]:
        say("Run the step again with a higher --max-tokens to ask again for those that were cut off.")
    if report.failed:
        then(step, Folder(folder), "--model MODEL")
    else:
        say(f"Next: {report.next}")


@click.command()
@folder_argument
def status(folder: Path) -> None:
    """Print what is done, what was refused, what the calls took, and the next command.

    Tokens are those that the providers counted, from logs/. A text that a killed run wrote counts once; calls that failed, or were under
    way when a run was killed, are not counted.
    """
    found = building_status.status(Folder(folder))
    _columns([("step", "done"), *found.steps])
    for one in found.balances:
        say(building_answers.said(one))
    if found.refused:
        say()
        _columns(
            [("refused in", "reason", "texts"), *((*key, str(count)) for key, count in sorted(found.refused.items()))]
        )
    if found.spent:
        say()
        rows = [
            *found.spent,
            ("total", "", *(sum(numbers) for numbers in zip(*(row[2:] for row in found.spent), strict=True))),
        ]
        _columns(
            [
                ("spent in", "model", "calls", "input tokens", "output tokens"),
                *((str(row[0]), str(row[1]), *(f"{number:,}" for number in row[2:])) for row in rows),
            ]
        )
    if found.unread:
        say(f"{found.unread} logs under logs/ could not be read: what they took is not counted.")
    say()
    if found.edited:
        say(f"! {found.edited}")
        say("Next: put these texts back, or have the pairs voted on again.")
    else:
        say(f"Next: {found.next}" if found.next else f"Done: {folder / 'release'}")


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
    found = building_plan.plan(Folder(folder), size, models)
    settings = Folder(folder).settings
    say(
        f"{found.pairs} pairs of {found.test} test persons; {found.persons} persons and {found.questions} questions in all; {models} models answer"
    )
    if found.personas != settings.personas:
        say(
            f"Set personas: {found.personas} in {folder / 'build.yaml'} (it has {settings.personas}), or bring your own personas."
        )
    say(f"Votes to buy: {found.votes:,} ({settings.annotators} to each pair)")
    say()
    totals = [
        sum(values)
        for values in zip(*((one.calls, one.input_tokens, one.output_tokens) for one in found.calls), strict=True)
    ]
    _columns(
        [
            ("calls", "number", "input tokens", "output tokens"),
            *((one.what, f"{one.calls:,}", f"{one.input_tokens:,}", f"{one.output_tokens:,}") for one in found.calls),
            ("total", *(f"{number:,}" for number in totals)),
        ]
    )
    say()
    known = "assumed" if found.assumed else "the mean of this build"
    for line in (
        f"a persona has {found.persona_tokens} tokens ({known}), an answer {building_plan.ANSWER}, a question {building_plan.QUESTION}",
        f"each question has all of its {len(KINDS)} pairs: no text fails or is refused, and screening drops nobody",
        "memory is not counted, nor thinking of models that think, nor attention items",
        f"pairs on which less than {settings.hard} of the votes agree are left out of the set: plan for more than it is to have",
    ):
        say(f"Assumed: {line}.")
    then("personas", Folder(folder), "--model MODEL")


def _columns(rows: Sequence[Sequence[str]]) -> None:
    """Print lines with their columns below each other; numbers stand at the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = [cell.replace(",", "").isdigit() for cell in rows[-1]]
    for row in rows:
        cells = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numbers, strict=True)
        )
        say("  ".join(cells).rstrip())
