"""`build pilot`: all texts of a few persons, and a page to read them on before the others are paid for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from ..annotation.study import Say
from ..common import web
from ..common.errors import OptionError
from .build import Build
from .rows import STRATEGIES, Answer, Basis, Person, Question, Refused
from .texts.answers import target
from .texts.asking import Models
from .texts.checks import words
from .texts.runner import write_texts


def write_pilot(build: Build, people: int, models: Models, say: Say) -> None:
    """Write what these persons lack and the page, pilot.html. Raises OptionError without texts and models."""
    few, path = replace(build, most=people), build.root / "pilot.html"
    if not models.names and not build.read(Person):
        raise OptionError(f"{build.root}: there are no texts to show yet. Pass --model MODEL, which writes them.")
    try:
        if models.names:
            write_texts(few, models, say)
    finally:  # also where nothing passed the checks: the page shows why
        build.commit({path: _page(few)})
        say(f"wrote {path}")
    say("Read it; to drop a person or a question, write keep = no into its line of people.csv or questions.csv.")


def _page(build: Build) -> str:
    # Of the persons of the pilot, with all their questions, also those that were dropped.
    answers, bases, people = build.read(Answer), build.by_id(Basis), list[dict[str, Any]]()
    for person in build.people():
        questions = []
        for question in build.read(Question):
            if question.user_id == person.user_id:
                written = [answer for answer in answers if answer.question_id == question.id]
                questions.append({
                    **asdict(bases.get(question.id, Basis(id=question.id, memory=()))), **asdict(question),
                    "target": target(build.settings, question.id),
                    "answers": [{**asdict(answer), "words": words(answer.text)} for answer in written],
                })  # fmt: skip
        people.append({**asdict(person), "profile": build.persona(person.user_id).text, "questions": questions})
    document = {
        "people": people,
        "refused": [asdict(text) for text in build.read(Refused)],
        "strategies": [name for name in STRATEGIES if any(answer.strategy == name for answer in answers)],
    }
    title = f"Pilot of {build.settings.name}"
    return web.page(Path(__file__).with_suffix(""), document, title=title, language=build.settings.language)
