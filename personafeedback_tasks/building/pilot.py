"""The page of a pilot: the texts of a few persons, for somebody to read before more is spent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..common import web
from .folder import Folder
from .rows import STRATEGIES, Answer, Basis, Person, Question, Refused
from .texts.answers import target
from .texts.checks import words


def page(folder: Folder, users: Sequence[str]) -> str:
    """The page as HTML, with these users, also those who were dropped."""
    persons, bases, answers = folder.by_id(Person), folder.by_id(Basis), folder.read(Answer)
    of_user, of_question = defaultdict[str, list[Any]](list), defaultdict[str, list[Any]](list)
    for answer in answers:
        of_question[answer.question_id].append({
            "model": answer.model, "strategy": answer.strategy, "way": answer.way, "text": answer.text, "words": words(answer.text),
        })  # fmt: skip
    for question in folder.read(Question):
        basis = bases.get(question.id)
        of_user[question.user_id].append({
            "id": question.id, "question": question.question, "category": question.category, "scenario": question.scenario,
            "keep": question.keep, "reason": question.reason, "target": target(folder.settings, question.id),
            "memory": basis.memory if basis else (), "features": basis.features if basis else (), "answers": of_question[question.id],
        })  # fmt: skip
    document = {
        "people": [
            {
                "id": user, "name": persons[user].name, "split": persons[user].split, "keep": persons[user].keep, "reason": persons[user].reason,
                "profile": folder.persona(user).text, "questions": of_user[user],
            }
            for user in users
        ],
        "refused": [{"step": one.step, "id": one.id, "reason": one.reason, "text": one.text} for one in folder.read(Refused)],
        "strategies": [name for name in STRATEGIES if any(answer.strategy == name for answer in answers)],
    }  # fmt: skip
    return web.page(
        Path(__file__).with_name("pilot_page") / "pilot", document,
        title=f"Pilot of {folder.settings.name}", language=folder.settings.language,
    )  # fmt: skip
