"""The steps that have models write: a run of one or all of them, and the texts that each has yet to write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...common.errors import OptionError
from ..folder import Folder
from ..models import Models
from ..rows import FULL, OWN, TEST, Answer, Origin, Person, Question, Refused
from ..steps import ANSWERS, PERSONAS, QUESTIONS, TEXTS, Say, Step
from .answers import FIRST, REWRITES, answer_id, write_answers
from .asking import settled
from .general import general_slot
from .personas import names, write_personas
from .questions import write_questions
from .specific import slots

_WRITE = {PERSONAS: write_personas, QUESTIONS: write_questions, ANSWERS: write_answers}


def write_texts(folder: Folder, models: Models, say: Say, only: str = "") -> None:
    """Run one step or all of them, each of which asks for its missing texts.

    Args:
        models: without any, only a team's texts are taken.
        only: name of the step; all if empty.

    Raises:
        OptionError: a step lacks a model.
        DataError: a file of the build is broken, or a step has no text.
        GenerationError: a model wrote nothing.
    """
    steps = [step for step in TEXTS if step.name == only] or list(TEXTS)
    if not only and not models.names:
        steps = [PERSONAS, QUESTIONS] if folder.has(Question) else [PERSONAS]
    for step in steps:
        if not models.names and step == ANSWERS:
            raise OptionError(f"The step {step.name} needs a model. Pass --model.")
        _WRITE[step](folder, models, say)


def todo(folder: Folder, step: Step) -> list[str]:
    """Ids of a step's texts that models have yet to write: neither there nor refused for good.

    Empty for a step that no model has begun: a team may bring all its texts.
    """
    if step not in _WANTED or not has_written(folder, step):
        return []
    done = {part for origin in folder.read(Origin) for part in (origin.id, *origin.parents)}
    done |= settled(folder.read(Refused), step) | {answer.id for answer in folder.read(Answer)}
    return [name for name in _WANTED[step](folder) if name not in done]


def has_written(folder: Folder, step: Step) -> bool:
    """Whether a model wrote a text of this step."""
    return any(origin.kind == step.text and origin.model != OWN for origin in folder.read(Origin))


def _personas(folder: Folder) -> Iterator[str]:
    yield from names(folder.settings)


def _questions(folder: Folder) -> Iterator[str]:
    general = Counter(question.user_id for question in folder.read(Question) if question.category == "general")
    for person in folder.people():
        yield from slots(folder.settings, person.user_id)
        if general[person.user_id] < folder.settings.general:
            yield general_slot(folder.settings, person.user_id)


def _answers(folder: Folder) -> Iterator[str]:
    answers, asked = folder.read(Answer), {question.id for question in folder.questions()}
    for model in {answer.model for answer in answers if answer.strategy in FIRST}:
        yield from (answer_id(question, strategy, model) for question in asked for strategy in FIRST)
    test = {person.user_id for person in folder.read(Person) if person.split == TEST}
    for answer in answers:
        if answer.strategy == FULL and answer.user_id in test and answer.question_id in asked:
            for strategy in REWRITES:
                yield answer_id(answer.question_id, strategy, answer.model, answer.id)


_WANTED = {PERSONAS: _personas, QUESTIONS: _questions, ANSWERS: _answers}
"""Step that asks models -> the ids of the texts that models were to write."""
