"""A run of the step questions: existing questions, then new ones."""

from __future__ import annotations

from ...common import tables
from ...common.errors import DataError
from ...common.files import write
from ...common.records import cut, decoded
from ...common.row_files import columns
from ...core.cases import digest_of
from ..folder import Folder
from ..rows import Basis, Person, PoolQuestion, Question
from ..steps import PERSONAS, QUESTIONS, Say
from .asking import Models, TextRun


class QuestionsRun(TextRun):
    """A run of the step questions.

    Attributes:
        people: user id -> persona, of those kept.
        own: questions that no model of the build wrote or chose.
        pool: id -> line of pool.csv.
        bases: rows of basis.jsonl.
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
            self.bring(question.id, "question", question.user_id)
        # A question that is not in its table yet is not done: the run was killed between the two files.
        self.done = {part for question in self.questions for part in self.origins[question.id].parents}
        self.pool = folder.by_id(PoolQuestion)
        self.bases = folder.read(Basis)

    def add(self, question: Question, prompt: str, *parents: str) -> None:
        """Add a question, with the versions of its prompts and its parents besides its user."""
        self.questions.append(question)
        self.take(question.id, "question", prompt, question.user_id, *parents)


def question_id(user: str, text: str) -> str:
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
            row["id"] = row.get("id") or question_id(row["user_id"], row["question"])
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
