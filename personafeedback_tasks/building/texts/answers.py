"""`build answers`: for each question what models write with the full persona, with a masked one, and with the question alone; and rewrites.

Rewrites to the better and to the worse are made of the answers with the full persona, by the model that wrote them, for test persons
only: in the released data such pairs make most of Medium, and a reward model's training needs none.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...engine.cases import digest_of
from ..folder import Folder
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
    PackItem,
    Pair,
    Question,
    Refused,
    Vote,
)
from ..steps import ANSWERS, PACKS, TRAINING
from . import checks, prompts
from .asking import Models, StepReport, TextRun
from .briefs import Briefs
from .pairs import Balance, balance, choose
from .similar import likeness

if TYPE_CHECKING:
    from ...inspect_harness.generation import Reply

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
    """An answer to be written.

    Attributes:
        answer: without its text.
        prompt: what its writer is told; version: of its file.
        parents: of its origin.
    """

    answer: Answer
    prompt: str
    version: str
    parents: tuple[str, ...]


def answer_id(question_id: str, strategy: str, model: str, parent: str = "") -> str:
    """The id of an answer."""
    return f"{question_id}:{strategy}:{digest_of([model, parent])}"


def write_answers(folder: Folder, models: Models) -> StepReport:
    """Have models write the answers that are missing, and choose the pairs.

    Raises:
        DataError: a file of the build is broken, there are no questions, or one was edited after it was answered.
        OptionError: there is no such model.
    """
    with folder.locked():
        run = _Run(folder)
        report, before = run.report, len(run.answers)
        users = {question.user_id for question in run.questions}
        report.read.append(f"{len(run.questions)} questions of {len(users)} persons, {before} answers")
        for wanted in (run.first, run.rewrites):
            for model in models.names:
                run.write(model, list(wanted(model)), models)
            folder.write_together({Origin: run.origins.values(), Refused: run.refused, Answer: run.answers})
        of = Counter(answer.strategy for answer in run.answers)
        counts = ", ".join(f"{of[strategy]} {strategy}" for strategy in STRATEGIES if of[strategy])
        report.wrote.append(
            f"{len(run.answers) - before} answers; answers.jsonl has {len(run.answers)}: {counts or 'none'}"
        )
        pairs = _choose(run) if run.answers else folder.read(Pair)
        if not (pairs if run.test else run.answers):
            kind, what = (Pair, "pair") if run.test else (Answer, "answer")
            run.refuse_nothing_left(kind, what, "Name another --model.")
        # Without test persons there is nothing to vote on: the answers are for a reward model.
        report.next = (PACKS if run.test else TRAINING).line(folder.root)
        return report


def _choose(run: _Run) -> list[Pair]:
    """Write the pairs, and note their lengths."""
    folder, report, old = run.folder, run.report, run.folder.read(Pair)
    voted = folder.has(PackItem) or folder.has(Vote)
    test = [question for question in run.questions if question.id in run.test]
    pairs = choose(run.settings, test, run.answers, old, fixed=voted)
    folder.write(Pair, pairs)
    report.wrote.append(f"{len(pairs)} pairs of test persons in pairs.jsonl")
    lengths = balance(pairs, run.answers)
    report.notes += map(balance_line, lengths)
    if any(abs(kind.longer - kind.shorter) > UNEVEN * kind.pairs for kind in lengths) and not voted:
        report.notes.append(
            "One side is longer more often: answers of more models give more pairs to choose from. Name another --model before packs are made."
        )
    if voted and len(pairs) > len(old):
        report.notes.append(
            f"{len(pairs) - len(old)} pairs are new since the packs were made: make new packs for these."
        )
    return pairs


def balance_line(of: Balance) -> str:
    """A line about the lengths of one kind of pairs."""
    return f"{of.kind}: {of.pairs} pairs; the better informed answer is longer in {of.longer}, shorter in {of.shorter}, as long in {of.equal}"


class _Run(TextRun):
    """The answers of the build, and those that come to it.

    Attributes:
        questions: that were kept.
        test: ids of those of test persons.
    """

    def __init__(self, folder: Folder):
        super().__init__(folder, ANSWERS)
        self.questions = folder.questions()
        self._prompts = {name: prompts.load(folder.root, name) for name in (*FIRST, *REWRITES.values())}
        users = {person.user_id for person in folder.people(TEST)}
        self.test = {question.id for question in self.questions if question.user_id in users}
        self.answers = folder.read(Answer)
        self._done = {answer.id for answer in self.answers} | self.settled()
        self._briefs = Briefs(folder)
        self._of_question: dict[str, list[Answer]] = defaultdict(list)
        for answer in self.answers:
            self._of_question[answer.question_id].append(answer)
        self._briefs.refuse_edited(self.questions, self.answers, self.origins)

    def first(self, model: str) -> Iterator[_Wanted]:
        """The answers of a model that are no rewrites."""
        for question in self.questions:
            for strategy in FIRST:
                texts = {"question": question.question}
                if strategy != QUESTION:
                    texts["persona"] = self._briefs.persona(question.user_id, strategy)
                yield self._wanted(question, strategy, model, "", self._prompts[strategy], texts)

    def rewrites(self, model: str) -> Iterator[_Wanted]:
        """The rewrites by a model of its own answers with the full persona."""
        asked = {question.id: question for question in self.questions if question.id in self.test}
        for parent in list(self.answers):
            question = asked.get(parent.question_id)
            if question is not None and parent.strategy == FULL and parent.model == model:
                texts = {"question": question.question, "answer": parent.text}
                for strategy, name in REWRITES.items():
                    yield self._wanted(question, strategy, model, parent.id, self._prompts[name], texts)

    def _wanted(
        self, question: Question, strategy: str, model: str, parent: str, prompt: prompts.Prompt, texts: dict[str, str]
    ) -> _Wanted:
        answer = Answer(
            id=answer_id(question.id, strategy, model, parent), question_id=question.id, user_id=question.user_id, strategy=strategy,
            model=model, text="", parent=parent,
        )  # fmt: skip
        parents = (*self._briefs.parents(question, strategy), *filter(None, [parent]))
        filled = prompt.filled(language=self.settings.language, **texts)
        return _Wanted(answer, filled, prompt.version, parents)

    def write(self, model: str, wanted: list[_Wanted], models: Models) -> None:
        """Ask for those that are neither there nor refused, and check what comes."""
        missing = {one.answer.id: one for one in wanted if one.answer.id not in self._done}
        for name, reply in self.ask(models, model, {name: one.prompt for name, one in missing.items()}):
            self._done.add(name)
            answer, reason, like = self._checked(missing[name].answer, reply)
            if reason:
                self.refuse(name, reason, reply.text, like)
                continue
            self.answers.append(answer)
            self._of_question[answer.question_id].append(answer)
            self.add_origin(name, "answer", missing[name].parents, model, missing[name].version)

    def _checked(self, answer: Answer, reply: Reply) -> tuple[Answer, str, str]:
        """(the answer with its text, why it is refused, the id of the answer that it repeats)."""
        text = reply.text
        if answer.strategy in REWRITES and text and not reply.cut:
            rewritten = _REWRITTEN.findall(text)
            if not rewritten:
                return answer, NO_TAG, ""
            text = rewritten[-1].strip()
        answer = replace(answer, text=text)
        if reason := checks.fault(text, self.settings.language, reply.cut):
            return answer, reason, ""
        for other in self._of_question[answer.question_id]:
            if other.text == text:
                return answer, EQUAL, other.id
            if likeness(other.text, text) >= NEAR:
                return answer, NEARLY, other.id
        return answer, "", ""
