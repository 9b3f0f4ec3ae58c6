"""`build questions`: specific ones that a model writes for each person, general ones that it chooses from a pool, and a team's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...engine.cases import digest_of
from ...personafeedback.persona import Persona
from ..folder import Folder
from ..rows import Origin, PoolQuestion, Question, Refused, kept
from ..settings import Settings
from ..steps import ANSWERS, QUESTIONS, Say
from . import checks, general, natural, prompts
from .asking import Models
from .drawn import generator, scenarios
from .leaks import Leaks
from .personas import SIMILAR, say_unread_memories
from .questions_run import QuestionsRun, question_id
from .seeds import pool
from .similar import alike

if TYPE_CHECKING:
    from ...inspect_harness.generation import WrittenText

NEAR = 0.7
"""Likeness from which two questions are near duplicates."""

MEANINGS: Mapping[str, str] = {
    SIMILAR: "nearly the words of another question, or its meaning",
    **checks.OF_QUESTIONS,
    **natural.MEANINGS,
    **general.MEANINGS,
    **checks.MEANINGS,
}
"""Reason -> what was found."""

MEMORY = 5
"""Pieces of memory that a prompt shows."""

_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("「", "」"))


def write_questions(folder: Folder, models: Models | None, say: Say) -> None:
    """Take the questions that a team put there and, with a model, those that are missing.

    Raises:
        DataError: a file of the build is broken, general questions are wanted and there is no pool, or no question is left.
        OptionError: there is no such model.
        GenerationError: the model wrote nothing.
    """
    with folder.step(QUESTIONS):
        run = QuestionsRun(folder, say)
        before = len(run.questions)
        say(f"Read {len(run.people)} persons, {before} questions")
        if models is not None:
            texts = _pool(run) if run.settings.general else []  # before anything is spent
            if run.settings.specific:
                _specific(run, models)
            if texts:
                general.write_general(run, models, texts)
        pooled = {PoolQuestion: run.pool.values()} if run.pool else {}
        folder.write_together({**pooled, Origin: run.origins.values(), Refused: run.refused, Question: run.questions})
        counts = Counter(question.category for question in kept(run.questions))
        say(
            f"Wrote {len(run.questions) - before} questions, {len(run.own)} of your own; questions.csv has {counts['specific']} specific, "
            f"{counts['general']} general"
        )
        say_unread_memories(folder, say)
        run.end(ANSWERS, Question, kept(run.questions), "question", "Name a --model, or add your own lines.")


def _specific(run: QuestionsRun, models: Models) -> None:
    (model,), settings, prompt = models.names, run.settings, prompts.load(run.folder.root, "specific")
    check = prompts.load(run.folder.root, natural.ABOUT)
    scenario_of = {
        slot: (user, scenario)
        for user in run.people
        for slot, scenario in zip(slots(settings, user), scenarios(settings, user, settings.specific), strict=True)
    }
    leaks = Leaks(run.people.values())
    specific = ((question.id, question.question) for question in run.questions if question.category == "specific")
    seen = alike(settings, NEAR, specific)

    def pieces(slot: str) -> list[str]:
        time = run.time(slot)
        return _memory(settings, run.people[scenario_of[slot][0]], f"{slot}:{time}" if time else slot)

    def told(slot: str) -> str:
        user, scenario = scenario_of[slot]
        memory = "\n".join(f"- {piece}" for piece in pieces(slot))
        return prompt.filled(persona=run.people[user].text, scenario=scenario, language=run.language, memory=memory)

    def take(replies: list[tuple[str, WrittenText]]) -> None:
        drafts = {}
        for slot, reply in replies:
            text = _unquoted(reply.text)
            if reason := checks.fault_of_question(text, settings.language, reply.cut):
                run.refuse(slot, reason, reply.text)
            else:
                drafts[slot] = scenario_of[slot][0], " ".join(text.split())
        for slot, (text, rewritten) in natural.mended(run, models, leaks, drafts).items():
            if like := seen.like(text):
                run.refuse(slot, SIMILAR, text, like)
                continue
            seen.add(slot, text)
            user, scenario = scenario_of[slot]
            question = Question(
                id=question_id(user, text), user_id=user, category="specific", scenario=scenario, question=text
            )
            memories = (f"memory:{digest_of([piece])}" for piece in pieces(slot))
            draft = [f"draft:{digest_of([drafts[slot][1]])}"] if rewritten else []
            versions = f"{prompt.version}, {check.version}"
            run.take(question, model, versions, slot, f"scenario:{scenario}", *memories, *draft)
            run.done.add(slot)

    run.complete(models, model, scenario_of, told, take)


def _pool(run: QuestionsRun) -> list[str]:
    texts, out = pool(run.folder.root)
    left_out = f" ({', '.join(f'{count} {why}' for why, count in out.items())})" if out else ""
    run.say(f"Read {len(texts)} questions of the pool{left_out}")
    return texts


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


def _memory(settings: Settings, persona: Persona, slot: str) -> list[str]:
    """A drawn handful of what the user read; none without a memory file."""
    if persona.memory_file is None or not persona.memory_file.is_file():
        return []
    pieces = persona.memory
    return generator(settings, "memory", slot).sample(pieces, min(MEMORY, len(pieces)))
