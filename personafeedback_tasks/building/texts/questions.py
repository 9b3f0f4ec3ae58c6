"""`build questions`: specific ones that a model writes for each person, general ones that it chooses from a pool, and a team's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ...common.row_files import Row
from ...engine.cases import digest_of
from ..folder import Folder
from ..rows import Basis, PoolQuestion, Question, kept
from ..steps import ANSWERS, QUESTIONS, Say
from . import checks, general, natural
from .asking import Models
from .leaks import Leaks
from .personas import SIMILAR, say_of_memories
from .questions_run import QuestionsRun, question_id
from .seeds import pool
from .similar import Seen
from .sources import MEANINGS as OF_SOURCES
from .sources import Sources

if TYPE_CHECKING:
    from ...inspect_harness.generation import WrittenText

NEAR = 0.7
"""Likeness from which two questions are near duplicates."""

MEANINGS: Mapping[str, str] = {
    SIMILAR: "nearly the words of another question",
    **OF_SOURCES,
    **checks.OF_QUESTIONS,
    **natural.MEANINGS,
    **general.MEANINGS,
    **checks.MEANINGS,
}
"""Reason -> what was found."""

_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("「", "」"))


def write_questions(folder: Folder, models: Models, say: Say) -> None:
    """Take the questions that a team put there and, with a model, those that are missing.

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
                _specific(run)
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
        run.end(ANSWERS, Question, kept(run.questions), "question", "Name a --model, or add your own lines.")


def _specific(run: QuestionsRun) -> None:
    settings, check = run.settings, run.prompt(natural.ABOUT)
    sources = Sources(run, run.people)
    leaks = Leaks(run.people.values())
    specific = ((question.id, question.question) for question in run.questions if question.category == "specific")
    seen = Seen(NEAR, specific)

    def take(replies: list[tuple[str, WrittenText]]) -> None:
        drafts = {}
        for slot, reply in replies:
            text = _unquoted(reply.text)
            if reason := checks.fault_of_question(text, settings.language, reply.cut):
                run.refuse(slot, reason, reply.text)
            else:
                drafts[slot] = sources.of[slot].persona.user_id, " ".join(text.split())
        for slot, (text, rewritten) in natural.mended(run, leaks, drafts).items():
            if like := seen.like(text):
                run.refuse(slot, SIMILAR, text, like)
                continue
            seen.add(slot, text)
            source = sources.of[slot]
            user = source.persona.user_id
            about, name = source.scenario.scenario, question_id(user, text)
            question = Question(id=name, user_id=user, category="specific", scenario=about, question=text)
            draft = [f"draft:{digest_of([drafts[slot][1]])}"] if rewritten else []
            run.bases += sources.basis(slot, question.id)
            run.add(question, f"{sources.version(slot)}, {check.version}", slot, *source.parents(), *draft)
            run.done.add(slot)

    run.progress.expect(sources.calls(run.done))
    run.complete(sources.of, sources.prompt, take, prepare=sources.infer)


def _pool(run: QuestionsRun) -> list[str]:
    texts, out = pool(run.folder.root)
    left_out = f" ({', '.join(f'{count} {why}' for why, count in out.items())})" if out else ""
    run.say(f"Read {len(texts)} questions of the pool{left_out}")
    return texts


def _unquoted(text: str) -> str:
    """A text without the one pair of quotes around all of it."""
    inner = text[1:-1]
    for opening, closing in _QUOTES:
        inside = re.sub(r"(?<=\w)['’](?=\w)", "", inner)  # an apostrophe is no quote
        if (text[:1], text[-1:]) == (opening, closing) and inner and not {opening, closing} & set(inside):
            return inner.strip()
    return text
