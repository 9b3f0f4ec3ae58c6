"""The step questions: specific ones that a model writes for each person, general ones from a pool, and a team's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ...common.row_files import Row
from ..folder import Folder
from ..rows import Basis, PoolQuestion, Question, kept
from ..steps import QUESTIONS, Say
from . import checks, general, specific
from .asking import Models
from .personas import SIMILAR, say_of_memories
from .questions_run import QuestionsRun
from .seeds import pool

MEANINGS: Mapping[str, str] = {
    SIMILAR: "nearly the words of another question",
    **specific.MEANINGS,
    **general.MEANINGS,
    **checks.MEANINGS,
}
"""Reason -> what was found."""


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
            texts = _pool(run) if run.settings.general else []  # before anything is spent
            if run.settings.specific:
                specific.write_specific(run)
            if texts:
                general.write_general(run, texts)
        # A row of basis.jsonl without its question is harmless: the question comes from the cache, with the same row.
        bases = {basis.id: basis for basis in run.bases}.values()
        rows: dict[type[Row], Iterable[Row]] = {PoolQuestion: run.pool.values(), Basis: bases}
        run.save({**{kind: of_kind for kind, of_kind in rows.items() if of_kind}, Question: run.questions})
        counts = Counter(question.category for question in kept(run.questions))
        say(
            f"Wrote {len(run.questions) - before} questions, {len(run.own)} of your own; questions.csv has {counts['specific']} specific, "
            f"{counts['general']} general"
        )
        say_of_memories(folder, say)
        run.end(Question, kept(run.questions), "question", "Name a --model, or add your own lines.")


def _pool(run: QuestionsRun) -> list[str]:
    texts, out = pool(run.folder.root)
    left_out = f" ({', '.join(f'{count} {why}' for why, count in out.items())})" if out else ""
    run.say(f"Read {len(texts)} questions of the pool{left_out}")
    return texts
