"""What the writers of answers were told, and whether that is still so: people must not vote with a persona that no writer saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...common.errors import DataError
from ...engine.cases import digest_of
from ..basis import Bases
from ..folder import Folder
from ..rows import FULL, MASKED, OWN, Answer, Origin, Question
from ..settings import FILE
from .drawn import masked


class Briefs:
    """What writers are told of the persons and questions of a build, as its files are now."""

    def __init__(self, folder: Folder):
        self._folder, self._bases = folder, Bases(folder)
        self._personas: dict[tuple[str, str], str] = {}

    def persona(self, question: Question, strategy: str) -> str:
        """The persona in a prompt of a strategy: a masked one is a part of the full one. Raises DataError: it is missing or broken."""
        if (question.id, strategy) not in self._personas:
            persona = self._bases.told(question)
            shown = masked(self._folder.settings, persona) if strategy == MASKED else persona
            self._personas[question.id, strategy] = shown.text
        return self._personas[question.id, strategy]

    def parents(self, question: Question, strategy: str) -> tuple[str, ...]:
        """What goes into an answer that is no rewrite: the question, its wording, and what is told of the persona."""
        return (question.id, _wording_id(question), *self._persona_ids(question, strategy))

    def _persona_ids(self, question: Question, strategy: str) -> tuple[str, ...]:
        if strategy not in (FULL, MASKED):
            return ()
        return (f"persona:{digest_of([self.persona(question, strategy)])}",)

    def refuse_edited(
        self, questions: Iterable[Question], answers: Sequence[Answer], origins: Mapping[str, Origin]
    ) -> None:
        """Raise DataError if a question, or what is told of a persona, was edited after a model answered it."""
        of_id = {question.id: question for question in questions}
        for answer in answers:
            question, origin = of_id.get(answer.question_id), origins.get(answer.id)
            if question is None or origin is None or origin.model == OWN:
                continue
            if _wording_id(question) not in origin.parents:
                raise DataError(
                    f"{self._folder.path(Question)}: found question {question.id!r} with another text than was answered. Put the text back; "
                    "or set its keep to no, and add the new text as a line without an id. `build questions` gives it one, `build answers` "
                    "answers it."
                )
            if not set(self._persona_ids(question, answer.strategy)) <= set(origin.parents):
                root, masks = self._folder.root, answer.strategy == MASKED
                also = f" (or masked or seed in {root / FILE})" if masks else ""
                raise DataError(
                    f"{self._folder.persona_path(question.user_id)}: found another persona{also} than answer {answer.id!r} was written for, so "
                    "that people would vote with a persona that it never saw. Put it back; or add the edited persona as "
                    "persona/<new user_id>.json and drop this person in people.csv (keep = no)."
                )


def _wording_id(question: Question) -> str:
    """Names the text of a question, which a team may edit under the same id."""
    return f"text:{digest_of([question.question])}"
