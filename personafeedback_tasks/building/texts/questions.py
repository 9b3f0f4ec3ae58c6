"""`build questions`: specific ones that a model writes for each person, general ones that it chooses from a pool, and a team's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from ...common import tables
from ...common.errors import DataError
from ...common.files import write
from ...common.strict_json import cut
from ...engine.cases import digest_of
from ..folder import Folder
from ..rows import Basis, Origin, Person, Question, Refused, columns, kept, parse
from ..settings import Settings
from ..steps import ANSWERS, QUESTIONS, Say
from . import checks, prompts
from .asking import Models, TextRun
from .choosing import NO_NUMBERS, chosen, listed
from .drawn import generator
from .leaks import Leaks
from .personas import SIMILAR, say_of_memories
from .seeds import pool
from .similar import Seen
from .sources import MEANINGS as OF_SOURCES
from .sources import Sources

NEAR = 0.7
"""Likeness from which two questions are near duplicates."""

GIVES_AWAY, LONG = "gives_away", "too_long"

MEANINGS: Mapping[str, str] = {
    GIVES_AWAY: "says the user's name, or too much that is true of few others",
    LONG: "an essay about a question",
    SIMILAR: "nearly the words of another question",
    **OF_SOURCES,
    NO_NUMBERS: "a choice from the pool that names none of the questions shown",
    **checks.MEANINGS,
}
"""Reason -> what was found."""

LONGEST = 600
"""Characters of a question. A longer reply is an essay about one."""

CANDIDATES = 20
"""Questions of the pool that a prompt shows, for each general one that is wanted, up to ten times as many."""

_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("「", "」"))


class _QuestionsRun(TextRun):
    """The questions of the build, and those that come to it."""

    def __init__(self, folder: Folder, say: Say):
        super().__init__(folder, QUESTIONS, say)
        self.people = {person.user_id: folder.persona(person.user_id) for person in folder.people()}
        self.questions = _questions(folder)
        self.bases = folder.read(Basis)
        known = {person.user_id for person in folder.read(Person)}
        for question in self.questions:
            if question.user_id not in known:
                raise DataError(
                    f"{folder.path(Question)}: found the user_id {question.user_id!r} in question {question.id!r}, expected one of people.csv. "
                    f"Add persona/{question.user_id}.json and run `build personas`, or remove the line."
                )
        self.own = [question for question in self.questions if question.id not in self.origins]
        for question in self.own:
            self.origins[question.id] = self.origin(question.id, "question", (question.user_id,))
        # A question that is not in its table yet is not done: the run was killed between the two files.
        self.done = {part for question in self.questions for part in self.origins[question.id].parents}
        self.done |= self.settled()

    def take(self, question: Question, model: str, prompt: str, *parents: str) -> None:
        """Add a question to those of the build.

        Args:
            prompt: version of those that made it.
            parents: what else than its user went into it.
        """
        self.questions.append(question)
        self.origins[question.id] = self.origin(question.id, "question", (question.user_id, *parents), model, prompt)


def write_questions(folder: Folder, models: Models | None, say: Say) -> None:
    """Take the questions that a team put there and, with a model, those that are missing.

    Raises:
        DataError: a file of the build is broken, general questions are wanted and there is no pool, or no question is left.
        OptionError: there is no such model.
        GenerationError: the model wrote nothing.
    """
    with folder.step(QUESTIONS):
        run = _QuestionsRun(folder, say)
        before = len(run.questions)
        say(f"Read {len(run.people)} persons, {before} questions")
        if models is not None:
            texts = _pool(run) if run.settings.general else []  # before anything is spent
            if run.settings.specific:
                _specific(run, models)
            if texts:
                _general(run, models, texts)
        # A row of basis.jsonl without its question is harmless: the question comes from the cache, with the same row.
        bases = {basis.id: basis for basis in run.bases}.values()
        rows = {Origin: run.origins.values(), Refused: run.refused, Question: run.questions}
        folder.write_together({Basis: bases, **rows} if run.bases else rows)
        counts = Counter(question.category for question in kept(run.questions))
        say(
            f"Wrote {len(run.questions) - before} questions, {len(run.own)} of your own; questions.csv has {counts['specific']} specific, "
            f"{counts['general']} general"
        )
        say_of_memories(folder, say)
        run.end(ANSWERS, Question, kept(run.questions), "question", "Name a --model, or add your own lines.")


def _specific(run: _QuestionsRun, models: Models) -> None:
    (model,), settings, sources = models.names, run.settings, Sources(run, run.people)
    missing = [slot for slot in sources.of if slot not in run.done]
    asked = {slot: sources.prompt(slot) for slot in sources.infer(run, models, missing)}
    replies = run.ask(models, model, asked)
    if not replies:
        return
    leaks = Leaks(run.people.values())
    seen = Seen(
        NEAR, ((question.id, question.question) for question in run.questions if question.category == "specific")
    )
    for slot, reply in replies:
        text, source = _unquoted(" ".join(reply.text.split())), sources.of[slot]
        reason, like = checks.fault(text, settings.language, reply.cut), ""
        if not reason:
            if len(text) > LONGEST:
                reason = LONG
            elif leaks.gives_away(source.persona, text):
                reason = GIVES_AWAY
            elif like := seen.like(text) or "":
                reason = SIMILAR
        if reason:
            run.refuse(slot, reason, reply.text, like)
            continue
        seen.add(slot, text)
        user = source.persona.user_id
        question = Question(
            id=_id(user, text), user_id=user, category="specific", scenario=source.scenario.scenario, question=text
        )
        run.bases += sources.basis(slot, question.id)
        run.take(question, model, sources.version(slot), slot, *source.parents())


def _pool(run: _QuestionsRun) -> list[str]:
    texts, out = pool(run.folder.root)
    left_out = f" ({', '.join(f'{count} {why}' for why, count in out.items())})" if out else ""
    run.say(f"Read {len(texts)} questions of the pool{left_out}")
    return texts


def _general(run: _QuestionsRun, models: Models, texts: list[str]) -> None:
    (model,), settings, prompt = models.names, run.settings, prompts.load(run.folder.root, "general")
    asked: dict[str, str] = {}
    offered: dict[str, tuple[str, int, list[str]]] = {}
    for user, persona in run.people.items():
        own = {
            question.question
            for question in run.questions
            if (question.user_id, question.category) == (user, "general")
        }
        slot, missing = general_slot(settings, user), settings.general - len(own)
        if missing > 0 and slot not in run.done:
            left = [text for text in texts if text not in own]
            shown = generator(settings, "pool", slot).sample(left, min(len(left), max(CANDIDATES, 10 * missing)))
            offered[slot] = user, missing, shown
            asked[slot] = prompt.filled(
                persona=persona.text, questions=listed(shown), count=str(missing), language=settings.language
            )
    for slot, reply in run.ask(models, model, asked):
        user, missing, shown = offered[slot]
        fitting = chosen(shown, reply.text)[:missing]
        if not fitting:
            run.refuse(slot, NO_NUMBERS if reply.text else checks.EMPTY, reply.text)
        taken = {question.id for question in run.questions}
        for text in fitting:
            question = Question(id=_id(user, text), user_id=user, category="general", question=text)
            if question.id not in taken:
                run.take(question, model, prompt.version, slot, f"pool:{digest_of([text])}")


def _unquoted(text: str) -> str:
    """A text without the one pair of quotes around all of it."""
    inner = text[1:-1]
    for opening, closing in _QUOTES:
        inside = re.sub(r"(?<=\w)['’](?=\w)", "", inner)  # an apostrophe is no quote
        if (text[:1], text[-1:]) == (opening, closing) and inner and not {opening, closing} & set(inside):
            return inner.strip()
    return text


def general_slot(settings: Settings, user: str) -> str:
    """What a user's general questions are asked under, all at once."""
    return f"{user}:general:{settings.general}"


def _questions(folder: Folder) -> list[Question]:
    """The lines of questions.csv. A team's own may come without ids: they get one here. Raises DataError: see `Folder.read`."""
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
            parse(Question, {name: value for name, value in row.items() if name in names}, where)
        header = dict.fromkeys([*names, *(name for _, row in lines for name in row if name)])
        write(path, tables.text(list(header), [row for _, row in lines]))
    return folder.read(Question)


def _id(user: str, text: str) -> str:
    return f"{user}:{digest_of([text])}"
