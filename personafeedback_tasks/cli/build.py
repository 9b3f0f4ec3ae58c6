"""The commands that make a set of one's own: build STEP DIR."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict

from ..building.build import Build
from ..building.rows import STRATEGIES, Answer, Basis, Person, Question, Refused
from ..building.status import next_line, show_status, show_texts
from ..building.steps import PACKS, RELEASE, VOTES
from ..building.texts.answers import target
from ..building.texts.asking import Models
from ..building.texts.checks import words
from ..building.texts.runner import write_texts
from ..building.texts.seeds import start
from ..common import web
from ..common.errors import OptionError
from ..common.files import write
from .build_set import import_command, release, training
from .build_texts import build_argument, folder_argument, model_options, texts
from .output import progress, say

_DIR = Path("DIR")

_HELP = f"""Build a set for your own users, in your language.

Each command reads what the one before left in DIR and adds its own. Edit DIR by hand in between; run one again after
it was killed.

\b
    personafeedback build init DIR
    personafeedback build texts DIR --model MODEL --model OTHER
    {PACKS.line(_DIR)}
    {VOTES.line(_DIR)}
    {RELEASE.line(_DIR)}

`build status` shows what is done, what was refused, what the calls took, and the next command. `build pilot` makes
all texts of a few persons and a page to read them on; `build import` brings in pairs that exist; `build training`
makes pairs to train a reward model on.
"""


@click.command()
@folder_argument
@click.option(
    "--language",
    metavar="CODE",
    help="Language of the set, such as zh or de. Prompts come in English and Chinese.  [default: en]",
)
def init(folder: Path, language: str | None) -> None:
    """Start a build: settings, prompts and example seeds to edit.

    \b
    build.toml     what you decide about the set, each setting with its meaning
    prompts/*.md   what models are told; {{persona}} and the like are filled in
    seeds.jsonl    short profiles that personas are written from: replace them
    names.csv      countries and names that are drawn for personas
    scenarios.csv  situations that questions are asked in, how often, and for whom
    examples.jsonl questions of which each prompt for a question shows one

    What is already there stays as it is. You may also bring, before or after:

    \b
    persona/<user_id>.json   your own personas, as in the release
    memory/<user_id>.jsonl   what a user read or wrote: {"text": "..."} or {"role": "user", "content": "..."} per line
    questions.csv            your own questions: user_id, category, question
    pool.jsonl               questions that people asked: one {"question": "..."} per line

    Where persona/ has files, a new build writes no other personas. E-mail addresses and phone numbers in persona/ and
    memory/ are refused before anything is asked. Patterns find no names and miss other things: read your files, too.

    \b
        personafeedback build init DIR --language zh
    """
    started = Build(folder)
    written, present = start(started, language)
    for path in written:
        say(f"Wrote {path}")
    for path in present:
        say(f"Already there, unchanged: {path}")
    say(next_line(started))


@click.command()
@build_argument
def status(folder: Build) -> None:
    """Print what is done, what was refused, what the calls took, and the next command.

    Tokens are those that the providers counted, from logs/. Calls of runs that were killed are not counted.
    """
    show_status(folder, say)


PAGE = "pilot.html"
"""In the build's folder."""


@click.command()
@build_argument
@click.option("--people", type=click.IntRange(1), default=5, show_default=True, help="How many persons.")
@model_options("Without one, the page is made of what is there.")
def pilot(folder: Build, people: int, names: tuple[str, ...], **options: Any) -> None:
    """Write all texts of a few persons, and a page to read before you pay for the others.

    DIR/pilot.html has the personas, their questions, the answers side by side, and the texts that were refused and
    why. The texts are part of the build: what comes later goes on from them, and nothing is asked twice. The first
    model writes personas and questions; all of them answer.

    To drop a person or a question, write keep = no into its line of people.csv or questions.csv. Run the command
    again, and others take the place of the dropped persons.

    \b
        personafeedback build pilot DIR --people 5 --model openai/gpt-4o --model openai/gpt-4o-mini
    """
    few = replace(folder, most=people)
    if not names and not folder.read(Person):
        raise OptionError(f"{folder.root}: there are no texts to show yet. Pass --model MODEL, which writes them.")
    with progress() as show:
        models = Models(tuple(dict.fromkeys(names)), **options, show=show)
        try:
            if names:
                write_texts(few, models, say)
        finally:  # also where nothing passed the checks: the page shows why
            write(folder.root / PAGE, _page(few))
            say(f"wrote {folder.root / PAGE}")
    say("Read it; to drop a person or a question, write keep = no into its line of people.csv or questions.csv.")
    show_texts(folder, say)


def _page(folder: Build) -> str:
    # Of the persons of the pilot, with all their questions, also those that were dropped.
    answers, bases = folder.read(Answer), folder.by_id(Basis)
    people = {
        person.user_id: {**asdict(person), "profile": folder.persona(person.user_id).text, "questions": []}
        for person in folder.people()
    }
    for question in folder.read(Question):
        if question.user_id not in people:
            continue
        basis = bases.get(question.id)
        written = [answer for answer in answers if answer.question_id == question.id]
        people[question.user_id]["questions"].append({
            **asdict(question), "target": target(folder.settings, question.id), "memory": basis.memory if basis else (),
            "features": basis.features if basis else (),
            "answers": [{**asdict(answer), "words": words(answer.text)} for answer in written],
        })  # fmt: skip
    document = {
        "people": [*people.values()],
        "refused": [asdict(text) for text in folder.read(Refused)],
        "strategies": [name for name in STRATEGIES if any(answer.strategy == name for answer in answers)],
    }
    template = Path(__file__).with_name("pilot_page")
    title = f"Pilot of {folder.settings.name}"
    return web.page(template, document, title=title, language=folder.settings.language)


@click.group(help=_HELP)
def build() -> None: ...


for step in (init, status, pilot, texts, release, training, import_command):
    build.add_command(step)
