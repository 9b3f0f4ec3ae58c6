"""`build answers`: for each question what models write with the full persona, with a masked one, and with the question alone; and rewrites.

Rewrites to the better and to the worse are made of the answers with the full persona, by the model that wrote them, for test persons
only: in the released data such pairs make most of Medium, and a reward model's training needs none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ...common.files import locked
from ...engine.cases import digest_of
from ..folder import Folder, command
from ..rows import (
    DEGRADED,
    FULL,
    IMPROVED,
    MASKED,
    QUESTION,
    STRATEGIES,
    TEST,
    Answer,
    Origin,
    Pair,
    Question,
    Refused,
    Shown,
    Vote,
)
from . import checks, prompts
from .asking import Models, Report, nothing_left, settled, short_reason, still_refused
from .pairs import Balance, balance, choose
from .similar import likeness
from .told import Told

STEP = "answers"
NEAR = 0.9
"""Likeness from which two answers to one question are near-equal texts: a rewrite of a word or two."""

UNEVEN = 0.2
"""Share of a kind's pairs, longer minus shorter, from which a report says what to do. 60 % to 40 % is where a release is stopped."""

EQUAL, NEARLY, NO_TAG = "equal", "near_equal", "no_answer_tag"

MEANINGS: Mapping[str, str] = {
    EQUAL: "the same text as another answer to the question",
    NEARLY: "but for a word or two the same text",
    NO_TAG: "a rewrite without <answer></answer>",
}
"""Reason -> what was found; see also `checks.MEANINGS`."""

FIRST = (FULL, MASKED, QUESTION)
"""Strategies of the answers that are no rewrites; each has a prompt of its name."""

REWRITES: Mapping[str, str] = {IMPROVED: "improve", DEGRADED: "degrade"}
"""Strategy -> the name of its prompt."""

_REWRITTEN = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class _Wanted:
    """An answer to be written."""

    answer: Answer
    """Without its text."""

    question: Question
    prompt: str
    version: str
    parents: tuple[str, ...]
    """Of its origin."""


def answer_id(question_id: str, strategy: str, model: str, parent: str = "") -> str:
    """The id of an answer."""
    return f"{question_id}:{strategy}:{digest_of([model, parent])}"


def write_answers(folder: Folder, models: Models) -> Report:
    """Have models write the answers that are missing, and choose the pairs.

    Raises:
        DataError: a file of the build is broken, there are no questions, or one was edited after it was answered.
        OptionError: there is no such model.
    """
    with locked(folder.root):
        report, step = Report(), _Step(folder)
        report.read.append(
            f"{len(step.questions)} questions of {len({one.user_id for one in step.questions})} persons, {len(step.answers)} answers"
        )
        before = len(step.answers)
        for wanted in (step.first, step.rewrites):
            for model in models.names:
                step.write(model, list(wanted(model)), models, report)
            step.save()
        of = Counter(one.strategy for one in step.answers)
        said = ", ".join(f"{of[strategy]} {strategy}" for strategy in STRATEGIES if of[strategy])
        report.wrote.append(
            f"{len(step.answers) - before} answers; answers.jsonl has {len(step.answers)}: {said or 'none'}"
        )
        if step.answers:
            _choose(folder, step, report)
        if not (folder.read(Pair) if step.test else step.answers):
            kind, what = (Pair, "pair") if step.test else (Answer, "answer")
            report.error = report.error or nothing_left(
                folder.path(kind), what, step.refused, STEP, "Name another --model."
            )
        # Without test persons there is nothing to vote on: the answers are for a reward model.
        report.next = command("packs" if step.test else "training", folder.root)
        return report


def _choose(folder: Folder, step: _Step, report: Report) -> None:
    old = folder.read(Pair)
    voted = folder.has(Shown) or folder.has(Vote)
    pairs = choose(
        folder.settings, [one for one in step.questions if step.is_test(one)], step.answers, old, fixed=voted
    )
    folder.write(Pair, pairs)
    report.wrote.append(f"{len(pairs)} pairs of test persons in pairs.jsonl")
    lengths = balance(pairs, step.answers)
    report.notes += [said(one) for one in lengths]
    if any(abs(one.longer - one.shorter) > UNEVEN * one.pairs for one in lengths) and not voted:
        report.notes.append(
            "One side is longer more often: answers of more models give more pairs to choose from. Name another --model before packs are made."
        )
    if voted and len(pairs) > len(old):
        report.notes.append(
            f"{len(pairs) - len(old)} pairs are new since the packs were made: make new packs for these."
        )


def said(of: Balance) -> str:
    """A line about the lengths of one kind of pairs."""
    return f"{of.kind}: {of.pairs} pairs; the better informed answer is longer in {of.longer}, shorter in {of.shorter}, as long in {of.equal}"


class _Step:
    """The state of one run: what is there, and what comes to it."""

    def __init__(self, folder: Folder):
        self._folder, self.settings = folder, folder.settings
        self.questions = folder.questions()
        self._prompts = {name: prompts.load(folder.root, name) for name in (*FIRST, *REWRITES.values())}
        test = {one.user_id for one in folder.people() if one.split == TEST}
        self.test = {one.id for one in self.questions if one.user_id in test}
        self.answers = folder.read(Answer)
        self._origins = {one.id: one for one in folder.read(Origin)}
        self.refused = folder.read(Refused)
        self._done = {one.id for one in self.answers} | settled(self.refused, STEP)
        self._told = Told(folder)
        self._of_question: dict[str, list[Answer]] = {}
        for one in self.answers:
            self._of_question.setdefault(one.question_id, []).append(one)
        self._told.refuse_edited(self.questions, self.answers, self._origins)

    def is_test(self, question: Question) -> bool:
        return question.id in self.test

    def first(self, model: str) -> Iterator[_Wanted]:
        """The answers of a model that are no rewrites."""
        for one in self.questions:
            for strategy in FIRST:
                prompt = self._prompts[strategy]
                texts = {"question": one.question, "language": self.settings.language}
                if strategy != QUESTION:
                    texts["persona"] = self._told.persona(one.user_id, strategy)
                answer = self._answer(one, strategy, model)
                yield _Wanted(answer, one, prompt.filled(**texts), prompt.version, self._told.parents(one, strategy))

    def rewrites(self, model: str) -> Iterator[_Wanted]:
        """The rewrites by a model of its own answers with the full persona."""
        asked = {one.id: one for one in self.questions}
        for parent in list(self.answers):
            question = asked.get(parent.question_id)
            if question is None or parent.strategy != FULL or parent.model != model or not self.is_test(question):
                continue
            for strategy, name in REWRITES.items():
                prompt = self._prompts[name]
                text = prompt.filled(question=question.question, answer=parent.text, language=self.settings.language)
                answer = self._answer(question, strategy, model, parent.id)
                yield _Wanted(
                    answer, question, text, prompt.version, (*self._told.parents(question, strategy), parent.id)
                )

    def write(self, model: str, wanted: list[_Wanted], models: Models, report: Report) -> None:
        """Ask for those that are neither there nor refused, and check what comes."""
        missing = {one.answer.id: one for one in wanted if one.answer.id not in self._done}
        replies = models.write(
            model, {name: one.prompt for name, one in missing.items()}, self._folder.root, STEP, report
        ).replies
        self.refused = still_refused(self.refused, STEP, replies)
        for name, one in missing.items():
            if name not in replies:
                continue
            self._done.add(name)
            reply = replies[name]
            text, reason = reply.text, ""
            if one.answer.strategy in REWRITES and text and not reply.cut:
                found = _REWRITTEN.findall(text)
                text, reason = (found[-1].strip(), "") if found else (text, NO_TAG)
            reason = reason or checks.fault(text, self.settings.language, reply.cut) or self._repeats(one.answer, text)
            if reason:
                report.refused[short_reason(reason)] += 1
                self.refused.append(Refused(id=name, step=STEP, reason=reason, text=reply.text))
                continue
            answer = replace(one.answer, text=text)
            self.answers.append(answer)
            self._of_question.setdefault(answer.question_id, []).append(answer)
            self._origins[name] = Origin(
                id=name, kind="answer", model=model, prompt=one.version, seed=self.settings.seed, parents=one.parents
            )

    def save(self) -> None:
        self._folder.write_together({Origin: self._origins.values(), Refused: self.refused, Answer: self.answers})

    def _answer(self, question: Question, strategy: str, model: str, parent: str = "") -> Answer:
        name = answer_id(question.id, strategy, model, parent)
        return Answer(
            id=name,
            question_id=question.id,
            user_id=question.user_id,
            strategy=strategy,
            model=model,
            text="",
            parent=parent,
        )

    def _repeats(self, answer: Answer, text: str) -> str:
        """Why a text is no new answer to its question; empty if it is one."""
        for other in self._of_question.get(answer.question_id, ()):
            if other.text == text:
                return f"{EQUAL} to {other.id}"
            if likeness(other.text, text) >= NEAR:
                return f"{NEARLY} to {other.id}"
        return ""
