"""`build pilot`: a few persons of a build on one page to read, before the others are paid."""

from __future__ import annotations

from typing import Any

import click

from ..building.folder import Folder
from ..building.models import Models
from ..building.pilot.page import page, write_texts
from ..building.rows import Person
from ..building.status import next_line
from ..common.errors import DataError
from ..common.files import write
from .build_options import build_argument
from .build_texts import model_options
from .output import progress, say

PAGE = "pilot.html"
"""In the build's folder."""


@click.command()
@build_argument
@click.option("--people", type=click.IntRange(1), default=5, show_default=True, help="How many persons.")
@model_options(repeated=True, required=False, without="Without one, the page is made of what is there.")
def pilot(folder: Folder, people: int, names: tuple[str, ...], **options: Any) -> None:
    """Write all texts of a few persons, and a page to read before you pay for the others.

    DIR/pilot.html has the personas, their questions, the answers side by side with length and overlap, the texts that were refused and why, and
    the calls and tokens so far. The texts are part of the build: what comes later goes on from
    them, and nothing is asked twice. The first model writes personas and questions; all of them answer.

    To drop a person or a question, write keep = no into its line of people.csv or questions.csv. Run the command again, and others take the
    place of the dropped persons.

    \b
        personafeedback build pilot DIR --people 5 --model openai/gpt-4o --model openai/gpt-4o-mini
    """
    few, stopped = Folder(folder.root, people), None
    with progress() as show:
        models = Models(tuple(dict.fromkeys(names)), **options, show=show)
        try:
            if names:
                write_texts(few, models, say)
        except DataError as error:  # nothing passed the checks: the page shows why
            stopped = error
        users = [person.user_id for person in few.people()] if folder.read(Person) else []
        write(folder.root / PAGE, page(folder, users))
    say(f"wrote {folder.root / PAGE}")
    if stopped:
        raise stopped
    say("Read it; to drop a person or a question, write keep = no into its line of people.csv or questions.csv.")
    say(next_line(folder, models))
