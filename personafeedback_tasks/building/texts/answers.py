"""`build answers`: for each question what models write with the full persona, with a masked one, and with the question alone; and rewrites.

Rewrites to the better and to the worse are made of the answers with the full persona, by the model that wrote them, for test persons
only: in the released data such pairs make most of Medium, and a reward model's training needs none.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ...engine.cases import digest_of
from ..folder import Folder
from ..rows import (  # fmt: skip
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
from ..steps import ANSWERS, PACKS, TRAINING, Say
from . import checks, prompts
from .asking import Models, TextRun
from .briefs import Briefs
from .pairs import balance, choose
from .similar import likeness

if TYPE_CHECKING:
    from ...inspect_harness.generation import WrittenText

NEAR = 0.9
"""Likeness from which two answers to one question are near-equal texts: a rewrite of a word or two."""

UNEVEN = 0.2
"""Share of a kind's pairs, longer minus shorter, from which a report says what to do. 60 % to 40 % is where a release is stopped."""

EQUAL, NEARLY, NO_TAG = "equal", "near_equal", "no_answer_tag"

MEANINGS: Mapping[str, str] = {
    EQUAL: "the same text as another answer to the question",
    NEARLY: "the same text except for a word or two",
    NO_TAG: "a rewrite without <answer></answer>",
}
"""Reason -> what was found; see also `checks.MEANINGS`."""

FIRST = (FULL, MASKED, QUESTION)
"""Strategies of the answers that are no rewrites; each has a prompt of its name."""

REWRITES: Mapping[str, str] = {IMPROVED: "improve", DEGRADED: "degrade"}
"""Strategy -> the name of its prompt."""

_REWRITTEN = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)


_Wanted = tuple[Answer, str, Origin]
"""An answer without its text, what its writer is told, and where it will be from."""


def answer_id(question_id: str, strategy: str, model: str, parent: str = "") -> str:
    """The id of an answer."""
    return f"{question_id}:{strategy}:{digest_of([model, parent])}"


def write_answers(folder: Folder, models: Models, say: Say) -> None:
    """Have models write the answers that are missing, and choose the pairs.

    Raises:
        DataError: a file of the build is broken, there are no questions, one was edited after it was answered, or no pair is left.
        OptionError: there is no such model.
        GenerationError: a model wrote nothing.
    """
    with folder.step(ANSWERS):
        run = _AnswersRun(folder, say)
        before, users = len(run.answers), {question.user_id for question in run.questions}
        say(f"Read {len(run.questions)} questions of {len(users)} persons, {before} answers")
        for wanted in (run.first, run.rewrites):
            for model in models.names:
                run.write(model, wanted(model), models)
            folder.write_together({Origin: run.origins.values(), Refused: run.refused, Answer: run.answers})
        strategies = Counter(answer.strategy for answer in run.answers)
        counts = ", ".join(f"{strategies[name]} {name}" for name in STRATEGIES if strategies[name])
        say(f"Wrote {len(run.answers) - before} answers; answers.jsonl has {len(run.answers)}: {counts or 'none'}")
        pairs = _choose(run) if run.answers else folder.read(Pair)
        if run.test:
            run.end(PACKS, Pair, pairs, "pair", "Name another --model.")
        else:  # nothing to vote on: the answers are for a reward model
            run.end(TRAINING, Answer, run.answers, "answer", "Name another --model.")


def _choose(run: _AnswersRun) -> list[Pair]:
    """Write the pairs, and say how long they are."""
    folder, say, old = run.folder, run.say, run.folder.read(Pair)
    voted = folder.has(PackItem) or folder.has(Vote)
    test = [question for question in run.questions if question.id in run.test]
    pairs = choose(run.settings, test, run.answers, old, fixed=voted)
    folder.write(Pair, pairs)
    say(f"Wrote {len(pairs)} pairs of test persons in pairs.jsonl")
    lengths = balance(pairs, run.answers)
    for kind in lengths:
        say(kind.line)
    if any(abs(kind.longer - kind.shorter) > UNEVEN * kind.pairs for kind in lengths) and not voted:
        say(
            "One side is longer more often: answers of more models give more pairs to choose from. Name another --model before packs are made."
        )
    if voted and len(pairs) > len(old):
        say(f"{len(pairs) - len(old)} pairs are new since the packs were made: make new packs for these.")
    return pairs


class _AnswersRun(TextRun):
    """The answers of the build, and those that come to it.

    Attributes:
        questions: that were kept.
        test: ids of those of test persons.
    """

    def __init__(self, folder: Folder, say: Say):
        super().__init__(folder, ANSWERS, say)
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
                shown = {} if strategy == QUESTION else {"persona": self._briefs.persona(question, strategy)}
                yield self._wanted(question, strategy, model, "", self._prompts[strategy], **shown)

    def rewrites(self, model: str) -> Iterator[_Wanted]:
        """The rewrites by a model of its own answers with the full persona."""
        asked = {question.id: question for question in self.questions if question.id in self.test}
        for parent in list(self.answers):
            question = asked.get(parent.question_id)
            if question is not None and parent.strategy == FULL and parent.model == model:
                for strategy, name in REWRITES.items():
                    yield self._wanted(question, strategy, model, parent.id, self._prompts[name], answer=parent.text)

    def _wanted(
        self, question: Question, strategy: str, model: str, parent: str, prompt: prompts.Prompt, **texts: str
    ) -> _Wanted:
        answer = Answer(
            id=answer_id(question.id, strategy, model, parent), question_id=question.id, user_id=question.user_id, strategy=strategy,
            model=model, text="", parent=parent,
        )  # fmt: skip
        parents = (*self._briefs.parents(question, strategy), *filter(None, [parent]))
        filled = prompt.filled(language=self.settings.language, question=question.question, **texts)
        return answer, filled, self.origin(answer.id, "answer", parents, model, prompt.version)

    def write(self, model: str, wanted: Iterable[_Wanted], models: Models) -> None:
        """Ask for those that are neither there nor refused, and check what comes."""
        missing = {
            answer.id: (answer, prompt, origin) for answer, prompt, origin in wanted if answer.id not in self._done
        }
        for name, reply in self.ask(models, model, {name: prompt for name, (_, prompt, _) in missing.items()}):
            self._done.add(name)
            answer, _, origin = missing[name]
            text, reason, like = self._checked(answer, reply)
            if reason:
                self.refuse(name, reason, reply.text, like)
                continue
            self.answers.append(replace(answer, text=text))
            self._of_question[answer.question_id].append(self.answers[-1])
            self.origins[name] = origin

    def _checked(self, answer: Answer, reply: WrittenText) -> tuple[str, str, str]:
        """(the text of an answer, why it is refused, the id of the answer that it repeats)."""
        text = reply.text
        if answer.strategy in REWRITES and text and not reply.cut:
            rewritten = _REWRITTEN.findall(text)
            if not rewritten:
                return text, NO_TAG, ""
            text = rewritten[-1].strip()
        if reason := checks.fault(text, self.settings.language, reply.cut):
            return text, reason, ""
        for other in self._of_question[answer.question_id]:
            if other.text == text:
                return text, EQUAL, other.id
            if likeness(other.text, text) >= NEAR:
                return text, NEARLY, other.id
        return text, "", ""
