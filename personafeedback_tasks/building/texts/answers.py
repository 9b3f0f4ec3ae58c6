"""The step answers: for each question, answers to the full persona, to a masked one and to the question alone; and rewrites.

Test persons' full-persona answers are rewritten by their own model: in the released data such pairs make most of Medium.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from msgspec.structs import replace

from ...annotation.rows import PackItem, Vote
from ...common.similar import likeness
from ...core.cases import digest_of
from ..basis import Bases
from ..folder import Folder
from ..rows import (
    DEGRADED,
    FULL,
    IMPROVED,
    MASKED,
    QUESTION,
    STRATEGIES,
    TEST,
    WAYS,
    Answer,
    Pair,
    Person,
    Question,
    kept,
)
from ..settings import Settings
from ..steps import ANSWERS, Say
from . import checks, prompts
from .asking import Call, Models, Refusal, Reply, TextRun
from .pairs import balance, choose

NEAR = 0.9
"""Likeness from which two answers to one question are near-equal texts: a rewrite of a word or two."""

EQUAL, NEARLY, NO_TAG = "equal", "nearly equal", "no answer tag"

FIRST: Mapping[str, str] = {FULL: "answer", MASKED: "answer", QUESTION: "question"}
"""Strategy of an answer that is no rewrite -> the name of its prompt. What is told of the persona is all that differs between the first two."""

REWRITES: Mapping[str, tuple[str, ...]] = {IMPROVED: ("improve",), DEGRADED: WAYS}
"""Strategy of a rewrite -> the names of its prompts, of which one is drawn."""

LENGTHS = (164, 192, 216, 239, 265, 296, 333, 380, 452)
"""Deciles of the words of the responses in the General half of the release, see `checks.words`."""

CHARACTERS = 1.65
"""Chinese characters that say as much as an English word."""

MOST = 2
"""Longest answer, in multiples of its target; a longer one is refused."""


_Wanted = tuple[Answer, str, tuple[str, ...]]
"""An answer without its text, what its writer is told, and where it will be from: the prompt's version and the parents."""


def target(settings: Settings, question_id: str) -> int:
    """Target length in words of all answers to a question: drawn from LENGTHS, scaled to the median of the settings."""
    spread = settings.generator("words", question_id).choice(LENGTHS) / LENGTHS[len(LENGTHS) // 2]
    return max(5, 5 * round(settings.words * (CHARACTERS if settings.language == "zh" else 1) * spread / 5))


def answer_id(question_id: str, strategy: str, model: str, parent: str = "") -> str:
    """Id of an answer, which is known before its text."""
    return f"{question_id}:{strategy}:{digest_of([model, parent])}"


def write_answers(folder: Folder, models: Models, say: Say) -> None:
    """Have models write the missing answers, and choose the pairs.

    Raises:
        DataError: a file of the build is broken, there are no questions, one was edited after it was answered, or no pair is left.
        OptionError: there is no such model.
        GenerationError: a model wrote nothing.
    """
    with folder.step(ANSWERS):
        run = _AnswersRun(folder, models, say)
        before, users = len(run.answers), {question.user_id for question in run.questions}
        say(f"Read {len(run.questions)} questions of {len(users)} persons, {before} answers")
        for wanted in (run.first, run.rewrites):
            for model in models.names:
                run.write(model, wanted(model))
            run.save({Answer: run.answers})
        strategies = Counter(answer.strategy for answer in run.answers)
        counts = ", ".join(f"{strategies[name]} {name}" for name in STRATEGIES if strategies[name])
        say(f"Wrote {len(run.answers) - before} answers; answers.jsonl has {len(run.answers)}: {counts or 'none'}")
        pairs = _choose(run) if run.answers else folder.read(Pair)
        if run.test:
            run.end(Pair, pairs, "pair", "Name another --model.")
        else:  # nothing to vote on: the answers are for a reward model
            run.end(Answer, run.answers, "answer", "Name another --model.")


def _choose(run: _AnswersRun) -> list[Pair]:
    folder, say, old = run.folder, run.say, run.folder.read(Pair)
    voted = folder.has(PackItem) or folder.has(Vote)
    test = {
        person.user_id for person in kept(folder.read(Person)) if person.split == TEST
    }  # also those whom a pilot does not see
    questions = [question for question in kept(folder.read(Question)) if question.user_id in test]
    pairs = choose(run.settings, questions, run.answers, old, fixed=voted)
    folder.write(Pair, pairs)
    say(f"Wrote {len(pairs)} pairs of test persons in pairs.jsonl")
    for line in balance(pairs, run.answers):
        say(line)
    if voted and len(pairs) > len(old):
        say(f"{len(pairs) - len(old)} pairs are new since the packs were made: make new packs for these.")
    return pairs


class _AnswersRun(TextRun):
    """A run of the step answers.

    Attributes:
        questions: those not dropped.
        test: ids of those of test persons.
    """

    def __init__(self, folder: Folder, models: Models, say: Say):
        super().__init__(folder, ANSWERS, models, say)
        self.questions = folder.questions()
        self._prompts = {name: self.prompt(name) for name in {*FIRST.values(), *chain(*REWRITES.values())}}
        self.test = {question.id for question in folder.questions(TEST)}
        self.answers = folder.read(Answer)
        self.done = {answer.id for answer in self.answers}
        self._bases = Bases(folder)
        self._of_question: dict[str, list[Answer]] = defaultdict(list)
        for answer in self.answers:
            self._of_question[answer.question_id].append(answer)
        self._bases.refuse_edited(self.questions, self.answers, self.origins)

    def first(self, model: str) -> Iterator[_Wanted]:
        """Wanted answers of a model that are no rewrites."""
        for question in self.questions:
            for strategy, name in FIRST.items():
                shown = {} if strategy == QUESTION else {"persona": self._bases.told(question, strategy)}
                yield self._wanted(question, strategy, model, "", name, **shown)

    def rewrites(self, model: str) -> Iterator[_Wanted]:
        """Wanted rewrites by a model of its own answers to the full persona."""
        asked = {question.id: question for question in self.questions if question.id in self.test}
        for parent in list(self.answers):
            question = asked.get(parent.question_id)
            if question is not None and parent.strategy == FULL and parent.model == model:
                for strategy, names in REWRITES.items():
                    name = self.settings.generator(strategy, parent.id).choice(names)
                    persona = {} if name in WAYS else {"persona": self._bases.told(question, FULL)}
                    yield self._wanted(question, strategy, model, parent.id, name, answer=parent.text, **persona)

    def _wanted(self, question: Question, strategy: str, model: str, parent: str, name: str, **texts: str) -> _Wanted:
        prompt, length = self._prompts[name], target(self.settings, question.id)
        answer = Answer(
            id=answer_id(question.id, strategy, model, parent), question_id=question.id, user_id=question.user_id, strategy=strategy,
            model=model, text="", parent=parent, way=name if name in WAYS else "",
        )  # fmt: skip
        parents = (*self._bases.parents(question, strategy), *filter(None, [parent]), f"words:{length}")
        filled = prompt.filled(question=question.question, words=str(length), **texts)
        return answer, filled, (prompt.version, *parents)

    def write(self, model: str, wanted: Iterable[_Wanted]) -> None:
        """Ask for those that are neither written nor refused for good, and check the replies."""
        missing = {one[0].id: one for one in wanted if one[0].id not in self.done}

        def accept(name: str, reply: Reply) -> None:
            answer, _, origin = missing[name]
            text = self._checked(answer, reply)
            self.take(name, *origin, model=model)
            self.answers.append(replace(answer, text=text))
            self._of_question[answer.question_id].append(self.answers[-1])

        self.complete(missing, Call(lambda name: missing[name][1], accept), model=model)

    def _checked(self, answer: Answer, reply: Reply) -> str:
        text = reply.text
        if answer.strategy in REWRITES and text and not reply.cut:
            rewritten = prompts.tagged(text, "answer")
            if rewritten is None:
                raise Refusal(NO_TAG, reply.text)
            text = rewritten
        reason = checks.fault(text, self.settings.language, reply.cut)
        if reason or checks.words(text) > MOST * target(self.settings, answer.question_id):
            raise Refusal(reason or checks.LONG, reply.text)
        for other in self._of_question[answer.question_id]:
            if other.text == text or likeness(other.text, text) >= NEAR:
                raise Refusal(EQUAL if other.text == text else NEARLY, reply.text)
        return text
