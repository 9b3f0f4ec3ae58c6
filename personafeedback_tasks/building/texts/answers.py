"""The step answers: to the full persona, to a masked one and to the question alone; and rewrites.

Test persons' full-persona answers are rewritten by their model: such pairs make most of Medium in the release.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from ...annotation.rows import PackItem, Vote
from ...annotation.study import Say
from ...common.row_files import Changes
from ...common.similar import likeness
from ...core.cases import digest_of
from ..basis import Bases
from ..build import Build
from ..rows import DEGRADED, FULL, IMPROVED, MASKED, QUESTION, TEST, WAYS, Answer, Pair
from ..settings import Settings
from ..steps import ANSWERS
from . import checks
from .asking import Ask, Models, Refusal, Reply, TextRun, Writing
from .pairs import balance, choose
from .prompts import Prompt, tagged

NEAR = 0.9
"""Likeness from which two answers to one question are near-equal texts: a rewrite of a word or two."""

EQUAL, NEARLY, NO_TAG = "equal", "nearly equal", "no answer tag"

FIRST = (FULL, MASKED, QUESTION)
"""Strategies of answers that are no rewrites."""

PROMPTS: Mapping[str, str] = {FULL: "answer", MASKED: "answer", QUESTION: "question", IMPROVED: "improve"}
"""Strategy -> the name of its prompt; that of a degraded answer is its way."""

LENGTHS = (164, 192, 216, 239, 265, 296, 333, 380, 452)
"""Deciles of the words of the responses in the General half of the release, see `checks.words`."""

CHARACTERS = 1.65
"""Chinese characters that say as much as an English word."""

MOST = 2
"""Longest answer, in multiples of its target; a longer one is refused."""


def target(settings: Settings, question_id: str) -> int:
    """Target length in words of all answers to a question: drawn from LENGTHS, scaled to the median of the settings."""
    spread = settings.generator("words", question_id).choice(LENGTHS) / LENGTHS[len(LENGTHS) // 2]
    return max(5, 5 * round(settings.words * (CHARACTERS if settings.language == "zh" else 1) * spread / 5))


def answer_id(question_id: str, strategy: str, model: str, parent: str = "") -> str:
    """Id of an answer, which is known before its text."""
    return f"{question_id}:{strategy}:{digest_of([model, parent])}"


class AnswersRun(TextRun):
    """A run of the step answers, of questions that were not dropped."""

    step = ANSWERS

    def __init__(self, build: Build, models: Models, say: Say):
        super().__init__(build, models, say)
        self._questions = {question.id: question for question in build.questions()}
        self._test = {question.id for question in build.questions(TEST)}
        needed = (Pair, "pair") if self._test else (Answer, "answer")  # nothing to vote on: for a reward model
        self.needs = (*needed, "Name another --model.")
        self._bases, self._answers = Bases(build), build.by_id(Answer)
        self.done = set(self._answers)

    def wanted(self) -> Iterator[str]:
        """Of the models that have answered."""
        for model in {answer.model for answer in self._answers.values() if answer.strategy in FIRST}:
            for answer in (*self._first(model), *self._rewrites(model)):
                yield answer.id

    def _first(self, model: str) -> Iterator[Answer]:
        # Without their texts, as all that are wanted.
        for question in self._questions.values():
            for strategy in FIRST:
                name, user = answer_id(question.id, strategy, model), question.user_id
                yield Answer(id=name, question_id=question.id, user_id=user, strategy=strategy, model=model, text="")

    def _rewrites(self, model: str) -> Iterator[Answer]:
        # A model rewrites its own answers to the full persona.
        for parent in list(self._answers.values()):
            if (parent.strategy, parent.model) == (FULL, model) and parent.question_id in self._test:
                for strategy in (IMPROVED, DEGRADED):
                    name = answer_id(parent.question_id, strategy, model, parent.id)
                    way = self.settings.generator(strategy, parent.id).choice(WAYS) if strategy == DEGRADED else ""
                    yield replace(parent, id=name, strategy=strategy, text="", parent=parent.id, way=way)

    def write(self) -> Changes:
        """Have models answer and rewrite, and choose the pairs. Raises DataError if an answered question was edited."""
        self._bases.refuse_edited(self._questions.values(), self._answers.values(), self.origins)
        prompt = {name: self.prompt(name) for name in {*PROMPTS.values(), *WAYS}}
        for wanted in (self._first, self._rewrites):
            for model in self.models.names:
                self._ask(model, wanted(model), prompt)
        pairs = self._pairs() if self._answers else self.build.read(Pair)
        return self.changes({Answer: self._answers.values(), Pair: pairs})

    def report(self) -> None:
        for line in balance(self.build.read(Pair), self._answers.values()):
            self.say(line)
        super().report()

    def _ask(self, model: str, wanted: Iterable[Answer], prompts: Mapping[str, Prompt]) -> None:
        missing = {answer.id: answer for answer in wanted if answer.id not in self.done}
        others: dict[str, list[str]] = defaultdict(list)  # question -> its answers' texts
        for answer in self._answers.values():
            others[answer.question_id].append(answer.text)

        def write(name: str) -> Writing:
            answer = missing[name]
            question, prompt = self._questions[answer.question_id], prompts[answer.way or PROMPTS[answer.strategy]]
            texts = {
                "question": question.question,
                "words": str(target(self.settings, question.id)),
                "persona": self._bases.for_writers(question, answer.strategy),
                "answer": self._answers[answer.parent].text if answer.parent else "",
            }
            text = self._checked(answer, (yield Ask(prompt, texts)), others[question.id])
            parents = self._bases.parents(question, answer.strategy)
            self.take(name, prompt.version, *parents, *filter(None, [answer.parent]), model=model)
            self._answers[name] = replace(answer, text=text)
            others[question.id].append(text)

        self.complete(missing, write, model=model)

    def _checked(self, answer: Answer, reply: Reply, others: Iterable[str]) -> str:
        text: str | None = reply.text
        if answer.parent and text and not reply.cut:
            text = tagged(text, "answer")
        if text is None:
            raise Refusal(NO_TAG, reply.text)
        reason = checks.fault(text, self.settings.language, reply.cut)
        if reason or checks.words(text) > MOST * target(self.settings, answer.question_id):
            raise Refusal(reason or checks.LONG, reply.text)
        for other in others:
            if other == text or likeness(other, text) >= NEAR:
                raise Refusal(EQUAL if other == text else NEARLY, reply.text)
        return text

    def _pairs(self) -> list[Pair]:
        whole, old = dataclasses.replace(self.build, most=None), self.build.read(Pair)  # also whom a pilot does not see
        voted = self.build.has(PackItem) or self.build.has(Vote)
        pairs = choose(self.settings, whole.questions(TEST), self._answers.values(), old, fixed=voted)
        if voted and len(pairs) > len(old):
            self.say(f"{len(pairs) - len(old)} pairs are new since the packs were made: make new packs for these.")
        return pairs
