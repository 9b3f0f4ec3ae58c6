"""What the writers of answers were told, and whether that is still so: people must not vote with a persona that no writer saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...common.errors import DataError
from ...engine.cases import digest_of
from ..folder import Folder
from ..rows import FULL, MASKED, Answer, Origin, Question
from ..settings import FILE
from .drawn import masked

_TEXT, _PERSONA = "text:", "persona:"
"""Begin the parents of an answer that say which wording of the question was answered, and what was told of the persona."""


class Told:
    """What writers are told of the persons of a build, as its files are now."""

    def __init__(self, folder: Folder):
        self._folder = folder
        self._texts: dict[tuple[str, str], str] = {}

    def persona(self, user: str, strategy: str) -> str:
        """The persona in a prompt of a strategy.

        Raises:
            DataError: it is missing or broken.
        """
        if (user, strategy) not in self._texts:
            persona = self._folder.persona(user)
            self._texts[user, strategy] = (
                masked(self._folder.settings, persona) if strategy == MASKED else persona
            ).text
        return self._texts[user, strategy]

    def parents(self, question: Question, strategy: str) -> tuple[str, ...]:
        """The parents of an answer that is no rewrite: they change with what its writer was told."""
        told = (_PERSONA + digest_of([self.persona(question.user_id, strategy)]),) if strategy in (FULL, MASKED) else ()
        return (question.id, _TEXT + digest_of([question.question]), *told)

    def refuse_edited(
        self, questions: Iterable[Question], answers: Sequence[Answer], origins: Mapping[str, Origin]
    ) -> None:
        """Raise DataError if a question, or what is told of a persona, was edited after it was answered."""
        known = {one.id: one for one in questions}
        for answer in answers:
            question, origin = known.get(answer.question_id), origins.get(answer.id)
            if question is None or origin is None:
                continue
            now = self.parents(question, answer.strategy)
            for start, error in ((_TEXT, self._edited_question), (_PERSONA, self._edited_persona)):
                then, new = (next((one for one in of if one.startswith(start)), None) for of in (origin.parents, now))
                if None not in (then, new) and then != new:
                    raise error(question, answer)

    def _edited_question(self, question: Question, answer: Answer) -> DataError:
        return DataError(
            f"{self._folder.path(Question)}: found question {question.id!r} with another text than was answered. Put the text back; or set "
            "its keep to no, and add the new text as a line without an id. `build questions` gives it one, `build answers` answers it."
        )

    def _edited_persona(self, question: Question, answer: Answer) -> DataError:
        root, masks = self._folder.root, answer.strategy == MASKED
        where = root / "persona" / f"{question.user_id}.json"
        also = f" (or masked or seed in {root / FILE})" if masks else ""
        return DataError(
            f"{where}: found another persona{also} than answer {answer.id!r} was written for, so that people would vote with a persona that "
            "it never saw. Put it back; or add the edited persona as persona/<new user_id>.json and drop this person in people.csv "
            "(keep = no)."
        )
