"""`build questions`: specific ones that a model writes for each person, general ones that it chooses from a pool, and a team's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

from ...common import tables
from ...common.errors import DataError
from ...common.files import locked, write
from ...common.strict_json import cut
from ...engine.cases import digest_of
from ...personafeedback.persona import Persona
from ..folder import Folder, command
from ..rows import OWN, Origin, Person, Question, Refused, parse
from ..settings import Settings
from . import checks, prompts
from .asking import Models, Report, nothing_left, settled, short_reason, still_refused
from .drawn import generator, scenarios
from .leaks import Leaks
from .personas import SIMILAR, memories_of_nobody
from .seeds import pool
from .similar import Seen

if TYPE_CHECKING:
    from ...inspect_harness.generation import Reply

STEP = "questions"
NEAR = 0.7
"""Likeness from which two questions are near duplicates."""

GIVES_AWAY, LONG, NO_NUMBERS = "gives_away", "too_long", "no_numbers"

MEANINGS: Mapping[str, str] = {
    GIVES_AWAY: "says the user's name, or too much that is true of few others",
    LONG: "an essay about a question",
    SIMILAR: "nearly the words of another question",
    NO_NUMBERS: "a choice from the pool that names none of the questions shown",
    **checks.MEANINGS,
}
"""Reason -> what was found."""

LONGEST = 600
"""Characters of a question. A longer reply is an essay about one."""

MEMORY, CANDIDATES = 5, 20
"""Pieces of memory that a prompt shows, and questions of the pool, for each general one that is wanted, up to ten times as many."""

_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("「", "」"))

_PLACED = re.compile(r"\W*([0-9]{1,6})[.):、．]\W*([0-9]{1,6})(?=\W*\Z|[\s*_]*[-–—.):、．]\s*[^\W\d])")
_COPIED = re.compile(r"\W*([0-9]{1,6})[.):、．].*[^\W\d_]")
"""Lines of a reply to the pool: the place of a choice and its number; the number of a choice and its question."""


class _Step:
    """The state of one run: what is there, and what comes to it.

    Raises:
        DataError: a file of the build is broken.
    """

    def __init__(self, folder: Folder, report: Report):
        self.folder, self.report, self.settings = folder, report, folder.settings
        self.people = {one.user_id: folder.persona(one.user_id) for one in folder.people()}
        self.questions, self.refused = _questions(folder), folder.read(Refused)
        self.origins = {one.id: one for one in folder.read(Origin)}
        known = {one.user_id for one in folder.need(Person, "personas")}
        for one in self.questions:
            if one.user_id not in known:
                raise DataError(
                    f"{folder.path(Question)}: found the user_id {one.user_id!r} in question {one.id!r}, expected one of people.csv. "
                    f"Add persona/{one.user_id}.json and run `build personas`, or remove the line."
                )
        report.notes += memories_of_nobody(folder.root, folder.read(Person))
        self.own = [one for one in self.questions if one.id not in self.origins]
        self.origins |= {
            one.id: Origin(id=one.id, kind="question", model=OWN, parents=(one.user_id,)) for one in self.own
        }
        # A question that is not in its table yet is not done: the run was killed between the two files.
        self.done = {part for one in self.questions for part in self.origins[one.id].parents}
        self.done |= settled(self.refused, STEP)
        self.written = 0

    def ask(self, models: Models, asked: dict[str, str]) -> Mapping[str, Reply]:
        (model,) = models.names
        replies = models.write(model, asked, self.folder.root, STEP, self.report).replies
        self.refused = still_refused(self.refused, STEP, replies)
        return replies

    def take(
        self,
        slot: str,
        user: str,
        category: str,
        text: str,
        scenario: str,
        model: str,
        prompt: str,
        parents: Iterable[str],
    ) -> None:
        """Add a question to those of the build; `parents` is what else went into it, for its origin."""
        question = Question(id=_id(user, text), user_id=user, category=category, scenario=scenario, question=text)
        self.questions.append(question)
        self.origins[question.id] = Origin(
            id=question.id,
            kind="question",
            model=model,
            prompt=prompt,
            seed=self.settings.seed,
            parents=(user, slot, *parents),
        )
        self.written += 1

    def refuse(self, slot: str, reason: str, text: str) -> None:
        self.refused.append(Refused(id=slot, step=STEP, reason=reason, text=text))
        self.report.refused[short_reason(reason)] += 1

    def save(self) -> None:
        self.folder.write_together({Origin: self.origins.values(), Refused: self.refused, Question: self.questions})


def write_questions(folder: Folder, models: Models | None) -> Report:
    """Take the questions that a team put there and, with a model, those that are missing.

    Raises:
        DataError: a file of the build is broken, or general questions are wanted and there is no pool.
        OptionError: there is no such model.
    """
    with locked(folder.root):
        report = Report()
        step = _Step(folder, report)
        report.read.append(f"{len(step.people)} persons, {len(step.questions)} questions")
        if models is not None:
            texts = _pool(step) if step.settings.general else []  # before anything is spent
            if step.settings.specific:
                _specific(step, models)
            if texts:
                _general(step, models, texts)
        step.save()
        of = Counter(one.category for one in step.questions if one.keep != "no")
        report.wrote.append(
            f"{step.written} questions, {len(step.own)} of your own; questions.csv has {of['specific']} specific, {of['general']} general"
        )
        if not of.total():
            report.error = report.error or nothing_left(
                folder.path(Question), "question", step.refused, STEP, "Name a --model, or add your own lines."
            )
        report.next = f"{command('answers', folder.root)} --model MODEL"
        return report


def _specific(step: _Step, models: Models) -> None:
    (model,), settings = models.names, step.settings
    prompt, asked, of = prompts.load(step.folder.root, "specific"), {}, {}
    for user, persona in step.people.items():
        drawn = scenarios(settings, user, settings.specific)
        for slot, scenario in zip(slots(settings, user), drawn, strict=True):
            if slot not in step.done:
                pieces = _memory(step, persona, slot)
                of[slot] = (user, scenario, pieces)
                asked[slot] = prompt.filled(
                    persona=persona.text,
                    scenario=scenario,
                    language=settings.language,
                    memory="\n".join(f"- {piece}" for piece in pieces),
                )
    replies = step.ask(models, asked)
    if not replies:
        return
    leaks = Leaks(step.people.values())
    seen = Seen(NEAR, ((one.id, one.question) for one in step.questions if one.category == "specific"))
    for slot in (one for one in asked if one in replies):
        reply, (user, scenario, pieces) = replies[slot], of[slot]
        text = _unquoted(" ".join(reply.text.split()))
        reason = checks.fault(text, settings.language, reply.cut)
        if not reason:
            if len(text) > LONGEST:
                reason = LONG
            elif leaks.gives_away(step.people[user], text):
                reason = GIVES_AWAY
            elif other := seen.like(text):
                reason = f"{SIMILAR} of {other}"
        if reason:
            step.refuse(slot, reason, reply.text)
        else:
            seen.add(slot, text)
            parents = (f"scenario:{scenario}", *(f"memory:{digest_of([piece])}" for piece in pieces))
            step.take(slot, user, "specific", text, scenario, model, prompt.version, parents)


def _pool(step: _Step) -> list[str]:
    texts, out = pool(step.folder.root)
    left_out = f" ({', '.join(f'{count} {why}' for why, count in out.items())})" if out else ""
    step.report.read.append(f"{len(texts)} questions of the pool{left_out}")
    return texts


def _general(step: _Step, models: Models, texts: list[str]) -> None:
    (model,), settings, root = models.names, step.settings, step.folder.root
    prompt = prompts.load(root, "general")
    asked, shown, wanted = {}, {}, {}
    for user, persona in step.people.items():
        have = {one.question for one in step.questions if one.user_id == user and one.category == "general"}
        slot, missing = general_slot(settings, user), settings.general - len(have)
        if missing > 0 and slot not in step.done:
            left = [text for text in texts if text not in have]
            count = min(len(left), max(CANDIDATES, 10 * missing))
            shown[slot], wanted[slot] = generator(settings, "pool", slot).sample(left, count), (user, missing)
            listed = "\n".join(f"{number}. {text}" for number, text in enumerate(shown[slot], start=1))
            asked[slot] = prompt.filled(
                persona=persona.text, questions=listed, count=str(missing), language=settings.language
            )
    replies = step.ask(models, asked)
    for slot in (one for one in asked if one in replies):
        reply, (user, missing) = replies[slot], wanted[slot]
        numbers = dict.fromkeys(_numbers(reply.text))
        chosen = [shown[slot][number - 1] for number in numbers if 1 <= number <= len(shown[slot])][:missing]
        if not chosen:
            step.refuse(slot, NO_NUMBERS if reply.text else checks.EMPTY, reply.text)
        taken = {one.id for one in step.questions}
        for text in chosen:
            if _id(user, text) not in taken:
                step.take(slot, user, "general", text, "", model, prompt.version, [f"pool:{digest_of([text])}"])


def slots(settings: Settings, user: str) -> list[str]:
    """What a user's specific questions are asked under, before anybody knows their texts."""
    return [f"{user}:specific:{number}" for number in range(settings.specific)]


def _unquoted(text: str) -> str:
    """A text without the one pair of quotes around all of it."""
    inner = text[1:-1]
    for opening, closing in _QUOTES:
        inside = re.sub(r"(?<=\w)['’](?=\w)", "", inner)  # an apostrophe is no quote
        if (text[:1], text[-1:]) == (opening, closing) and inner and not {opening, closing} & set(inside):
            return inner.strip()
    return text


def _numbers(reply: str) -> list[int]:
    """The numbers that a model chose, in its order."""
    lines = [line for line in reply.splitlines() if line.strip()]
    placed = [found for line in lines if (found := _PLACED.match(line))]
    if len(placed) == len(lines) and [int(one[1]) for one in placed] == list(range(1, len(lines) + 1)):
        return [int(one[2]) for one in placed]
    numbers: list[str] = []
    for line in lines:
        copied = _COPIED.match(line)
        numbers += [copied[1]] if copied else re.findall(r"[0-9]{1,6}", line)
    return [int(number) for number in numbers]


def general_slot(settings: Settings, user: str) -> str:
    """What a user's general questions are asked under, all at once."""
    return f"{user}:general:{settings.general}"


def _memory(step: _Step, persona: Persona, slot: str) -> list[str]:
    """A drawn handful of what the user read; none without a memory file."""
    if persona.memory_file is None or not persona.memory_file.is_file():
        return []
    pieces = persona.memory
    return generator(step.settings, "memory", slot).sample(pieces, min(MEMORY, len(pieces)))


def _questions(folder: Folder) -> list[Question]:
    """The lines of questions.csv. A team's own may come without ids: they get one here.

    Raises:
        DataError: see `Folder.read`.
    """
    path = folder.path(Question)
    if not path.is_file():
        return []
    lines = tables.rows(path, None, ["user_id", "category", "question"])
    if any(not row.get("id") for _, row in lines):
        names = [one.name for one in fields(Question)]
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
        columns = dict.fromkeys([*names, *(name for _, row in lines for name in row if name)])
        write(path, tables.text(list(columns), [row for _, row in lines]))
    return folder.read(Question)


def _id(user: str, text: str) -> str:
    return f"{user}:{digest_of([text])}"
