"""What models are still to write in a step of a build: what runs, status and plan go by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..folder import Folder
from ..rows import FULL, OWN, TEST, Answer, Origin, Person, Question, Refused, kept
from ..steps import ANSWERS, MEMORY, PERSONAS, QUESTIONS, Step
from .answers import FIRST, REWRITES, answer_id
from .asking import settled
from .checks import CUT
from .general import general_slot
from .memories import memory_slot
from .personas import names, other_seed
from .specific import slots


def todo(folder: Folder, step: Step) -> list[str]:
    """The ids of a step's texts that neither came nor were refused for good: they failed, or the step was killed.

    Only where a model has written something: a team may bring all of it.
    """
    if not step.asks_models or not (step == ANSWERS or has_written(folder, step)):
        return []
    refused = [text for text in folder.read(Refused) if text.step == step.name]
    done = {part for origin in folder.read(Origin) for part in (origin.id, *origin.parents)}
    done |= settled(refused, step) | {text.id for text in refused if text.reason == CUT}
    done |= {answer.id for answer in folder.read(Answer)}
    return [name for name in _WANTED[step](folder) if name not in done]


def has_written(folder: Folder, step: Step) -> bool:
    """Whether a model wrote something in a step."""
    return any(origin.kind == step.text and origin.model != OWN for origin in folder.read(Origin))


def asked_questions(folder: Folder) -> list[Question]:
    """Those that were kept, of people that were kept; none before there are any."""
    users = {person.user_id for person in kept(folder.read(Person))}
    return [question for question in kept(folder.read(Question)) if question.user_id in users]


def _personas(folder: Folder) -> Iterator[str]:
    if other_seed(folder.settings, folder.read(Origin)) is None:
        yield from names(folder.settings)


def _memories(folder: Folder) -> Iterator[str]:
    for person in kept(folder.read(Person)):
        if not folder.has_memory(person.user_id):
            yield memory_slot(folder.settings, person.user_id)


def _questions(folder: Folder) -> Iterator[str]:
    general = Counter(question.user_id for question in folder.read(Question) if question.category == "general")
    for person in kept(folder.read(Person)):
        yield from slots(folder.settings, person.user_id)
        if general[person.user_id] < folder.settings.general:
            yield general_slot(folder.settings, person.user_id)


def _answers(folder: Folder) -> Iterator[str]:
    answers, asked = folder.read(Answer), {question.id for question in asked_questions(folder)}
    for model in {answer.model for answer in answers if answer.strategy in FIRST}:
        yield from (answer_id(question, strategy, model) for question in asked for strategy in FIRST)
    test = {person.user_id for person in folder.read(Person) if person.split == TEST}
    for answer in answers:
        if answer.strategy == FULL and answer.user_id in test and answer.question_id in asked:
            for strategy in REWRITES:
                yield answer_id(answer.question_id, strategy, answer.model, answer.id)


_WANTED = {PERSONAS: _personas, MEMORY: _memories, QUESTIONS: _questions, ANSWERS: _answers}
"""Step that asks models -> the ids of the texts that models were to write."""
