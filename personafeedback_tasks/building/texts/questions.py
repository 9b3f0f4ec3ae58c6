"""The step questions: specific ones that a model writes for each person, general ones from a pool, and a team's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ...common import tables
from ...common.errors import DataError
from ...common.files import write
from ...common.records import cut, decoded
from ...common.row_files import Row, columns
from ...core.cases import digest_of
from ..folder import Folder
from ..rows import Basis, Person, PoolQuestion, Question, kept
from ..steps import PERSONAS, QUESTIONS, Say
from . import general, specific
from .asking import Models, TextRun


def write_questions(folder: Folder, models: Models, say: Say) -> None:
    """Take the questions that a team put there and have a model write or choose the missing ones.

    Raises:
        DataError: a file of the build is broken, general questions are wanted and there is no pool, or no question is left.
        OptionError: there is no such model.
        GenerationError: the model wrote nothing.
    """
    with folder.step(QUESTIONS):
        run = QuestionsRun(folder, models, say)
        before = len(run.questions)
        say(f"Read {len(run.people)} persons, {before} questions")
        if run.model:
            texts = general.read_pool(run) if run.settings.general else []  # before anything is spent
            if run.settings.specific:
                specific.write_specific(run)
            if texts:
                general.write_general(run, texts)
        # A row of basis.jsonl without its question is harmless: the question comes from the cache, with the same row.
        more: dict[type[Row], Iterable[Row]] = {PoolQuestion: run.pool.values()} if run.pool else {}
        if run.bases:
            more[Basis] = run.bases.values()
        run.save({**more, Question: run.questions})
        counts = Counter(question.category for question in kept(run.questions))
        say(
            f"Wrote {len(run.questions) - before} questions, {len(run.own)} of your own; questions.csv has {counts['specific']} specific, "
            f"{counts['general']} general"
        )
        run.end(Question, kept(run.questions), "question", "Name a --model, or add your own lines.")


class QuestionsRun(TextRun):
    """A run of the step questions.

    Attributes:
        people: user id -> persona, of those kept.
        own: questions that no model of the build wrote or chose.
        pool, bases: id -> row of pool.csv or basis.jsonl.
    """

    def __init__(self, folder: Folder, models: Models, say: Say):
        super().__init__(folder, QUESTIONS, models, say)
        self.people = {person.user_id: folder.persona(person.user_id) for person in folder.people()}
        self.questions = _questions(folder)
        known = {person.user_id for person in folder.read(Person)}
        for question in self.questions:
            if question.user_id not in known:
                raise DataError(
                    f"{folder.path(Question)}: found the user_id {question.user_id!r} in question {question.id!r}, expected one of people.csv. "
                    f"Add persona/{question.user_id}.json and run `{PERSONAS.command(folder.root)}`, or remove the line."
                )
        self.own = [question for question in self.questions if question.id not in self.origins]
        for question in self.own:
            self.bring(question.id, question.user_id)
        # A question that is not in its table yet is not done: the run was killed between the two files.
        self.done = {part for question in self.questions for part in self.origins[question.id].parents}
        self.pool = folder.by_id(PoolQuestion)
        self.bases = folder.by_id(Basis)

    def add(self, user: str, text: str, category: str, prompt: str, *parents: str, scenario: str = "") -> str:
        """Add a question, with the versions of its prompts and its parents besides its user. Returns its id."""
        name = _id(user, text)
        self.questions.append(Question(id=name, user_id=user, category=category, scenario=scenario, question=text))
        self.take(name, prompt, user, *parents)
        return name


def _id(user: str, text: str) -> str:
    return f"{user}:{digest_of([text])}"


def _questions(folder: Folder) -> list[Question]:
    # A team's own questions may lack ids: they get one here.
    path = folder.path(Question)
    if not path.is_file():
        return []
    lines = tables.rows(path, None, ["user_id", "category", "question"])
    if any(not row.get("id") for _, row in lines):
        names = columns(Question)
        seen: dict[str, str] = {}
        for where, row in lines:
            row["id"] = row.get("id") or _id(row["user_id"], row["question"])
            if row["id"] in seen:
                raise DataError(
                    f"{where}: found the question {cut(repr(row['question']))} of {seen[row['id']]} again, expected each question of a "
                    "user once. Remove one."
                )
            seen[row["id"]] = where
            decoded(where, {name: value for name, value in row.items() if name in names}, Question, "Fix it.")
        header = dict.fromkeys([*names, *(name for _, row in lines for name in row if name)])
        write(path, tables.text(list(header), [row for _, row in lines]))
    return folder.read(Question)
