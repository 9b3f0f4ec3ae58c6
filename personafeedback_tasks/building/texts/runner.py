"""The steps that have models write: missing texts, as the runs, status and plan need them; and a run of one step or all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ...common.errors import OptionError
from ..folder import Folder
from ..models import NOBODY, Models
from ..rows import FULL, OWN, TEST, Answer, Origin, Person, Question, Refused, kept
from ..steps import ANSWERS, PERSONAS, QUESTIONS, TEXTS, Say, Step
from . import answers, checks, personas, questions
from .answers import FIRST, REWRITES, answer_id
from .asking import settled
from .checks import CUT
from .general import general_slot
from .personas import names, other_seed
from .specific import slots

_WRITE = {
    PERSONAS: personas.write_personas,
    QUESTIONS: questions.write_questions,
    ANSWERS: answers.write_answers,
}

MEANINGS: Mapping[str, Mapping[str, str]] = {
    PERSONAS.name: personas.MEANINGS,
    QUESTIONS.name: questions.MEANINGS,
    ANSWERS.name: {**checks.MEANINGS, **answers.MEANINGS},
}
"""Step -> reason why it refuses a text -> what was found."""


def write_texts(folder: Folder, models: Models, say: Say, only: str = "") -> Sequence[Step]:
    """Run one step or all of them, each of which asks for its missing texts.

    Args:
        models: the first one writes personas and questions; all of them answer. Without any, only a team's texts are taken.
        only: name of the step; all if empty.

    Returns:
        The steps that ran.

    Raises:
        OptionError: a step lacks a model, or has several and takes one.
        DataError: a file of the build is broken, or a step has no text.
        GenerationError: a model wrote nothing.
    """
    steps = [step for step in TEXTS if step.name == only] or list(TEXTS)
    if not only and not models.names:
        steps = [PERSONAS, QUESTIONS] if folder.has(Question) else [PERSONAS]
    for step in steps:
        if not models.names and step == ANSWERS:
            raise OptionError(f"The step {step.name} needs a model. Pass --model.")
        if only and step != ANSWERS and len(models.names) > 1:
            raise OptionError(
                f"The step {step.name} takes one --model, got {len(models.names)}; answers takes several."
            )
        writers = models if step == ANSWERS else models.first
        if step == PERSONAS and not folder.settings.personas:  # all are a team's own
            writers = NOBODY
        _WRITE[step](folder, writers, say)
    return steps


def todo(folder: Folder, step: Step) -> list[str]:
    """Ids of a step's texts that models have yet to write: neither there nor refused for good."""
    refused = [text for text in folder.read(Refused) if text.step == step.name]
    done = {part for origin in folder.read(Origin) for part in (origin.id, *origin.parents)}
    done |= settled(refused, step) | {text.id for text in refused if text.reason == CUT}
    done |= {answer.id for answer in folder.read(Answer)}
    return [name for name in _WANTED[step](folder) if name not in done]


def lacking(folder: Folder, step: Step) -> list[str]:
    """Missing texts of a step that a model has begun; a team may bring all texts of another step."""
    return todo(folder, step) if step == ANSWERS or has_written(folder, step) else []


def has_written(folder: Folder, step: Step) -> bool:
    """Whether a model wrote a text of this step."""
    return any(origin.kind == step.text and origin.model != OWN for origin in folder.read(Origin))


def asked_questions(folder: Folder) -> list[Question]:
    """Questions not dropped, of persons not dropped; empty before there are any."""
    users = {person.user_id for person in kept(folder.read(Person))}
    return [question for question in kept(folder.read(Question)) if question.user_id in users]


def _personas(folder: Folder) -> Iterator[str]:
    if other_seed(folder.settings, folder.read(Origin)) is None:
        yield from names(folder.settings)


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


_WANTED = {PERSONAS: _personas, QUESTIONS: _questions, ANSWERS: _answers}
"""Step that asks models -> the ids of the texts that models were to write."""
