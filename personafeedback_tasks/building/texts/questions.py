"""The step questions: specific ones that a model writes for each person, general ones from a pool, and a team's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from ...annotation.study import Say
from ...common.row_files import Changes
from ...personafeedback.persona import Persona
from ..build import Build
from ..rows import Basis, PoolQuestion, Question
from ..steps import QUESTIONS
from . import general, specific
from .asking import Models, TextRun
from .sources import pool


class QuestionsRun(TextRun):
    """A run of the step questions. `questions` has those of the table and new ones; `pool` and `bases` are rows by id."""

    step = QUESTIONS
    needs = (Question, "question", "Name a --model, or add your own lines.")

    def __init__(self, build: Build, models: Models, say: Say):
        super().__init__(build, models, say)
        self.questions = build.read(Question)
        # A question that is not in its table yet is not done: the run was killed between the two files.
        for question in self.questions:
            if origin := self.origins.get(question.id):
                self.done.update(origin.parents)
        self.pool = build.by_id(PoolQuestion)
        self.bases = build.by_id(Basis)

    @cached_property
    def people(self) -> dict[str, Persona]:
        """User id -> persona, of those kept."""
        return {person.user_id: self.build.persona(person.user_id) for person in self.build.people()}

    def wanted(self) -> Iterator[str]:
        have = Counter(question.user_id for question in self.questions if question.category == "general")
        for person in self.build.people():
            yield from specific.slots(self.settings, person.user_id)
            if have[person.user_id] < self.settings.general:
                yield general.general_slot(self.settings, person.user_id)

    def write(self) -> Changes:
        """Take a team's questions, and write or choose the missing ones. Raises DataError also without a pool."""
        self.build.refuse_strangers()
        for question in self.questions:
            if question.id not in self.origins:
                self.bring(question.id, question.user_id)
        if self.model:
            texts = list[str]()
            if self.settings.general:  # before anything is spent
                texts, left_out = pool(self.build.root)
                self.say(f"Read {len(texts)} questions of the pool; {left_out} more are too short or too long")
            if self.settings.specific:
                specific.write_specific(self)
            if texts:
                general.write_general(self, texts)
        # A row of basis.jsonl without its question is harmless: the question comes from the cache, with the same row.
        judged: Changes = {PoolQuestion: self.pool.values()} if self.pool else {}
        bases: Changes = {Basis: self.bases.values()} if self.bases else {}
        return self.changes({**judged, **bases, Question: self.questions})

    def add(self, user: str, text: str, category: str, prompt: str, parent: str, scenario: str = "") -> str:
        """Add a question, with the versions of its prompts and its parent besides its user. Returns its id."""
        self.questions.append(Question(user_id=user, category=category, scenario=scenario, question=text))
        name = self.questions[-1].id
        self.take(name, prompt, user, parent)
        return name
