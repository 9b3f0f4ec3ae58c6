"""Specific questions, each asked in a scenario, from the whole persona or from features inferred from some memory (the paper's section 3.2).

A model then checks that the question is natural and does not give away its user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ...common.records import NonEmpty, decoded, rows
from ...common.similar import Seen
from ...core.cases import digest_of
from ...personafeedback.persona import Persona
from ..rows import Basis, Question
from ..settings import Settings
from . import checks, prompts
from .asking import Call, Refusal, Reply
from .leaks import Leaks
from .personas import SIMILAR
from .questions_run import QuestionsRun, question_id
from .scenarios import Scenario, draw_scenarios, scenarios
from .seeds import EXAMPLES, given

HANDFUL = 5
"""Pieces of memory that are drawn for a question."""

MOST_FEATURES, LONGEST_FEATURE = 8, 200
"""Features of a reply that are taken; characters of one. What is longer is an essay about the user."""

NEAR = 0.7
"""Likeness from which two questions are near duplicates."""

NATURAL = "natural"
"""The prompt of the check."""

NO_FEATURES, GIVES_AWAY, UNNATURAL, NO_VERDICT = "no_features", "gives_away", "unnatural", "no_verdict"

MEANINGS: Mapping[str, str] = {
    NO_FEATURES: "the model named no feature of the user",
    **checks.OF_QUESTIONS,
    GIVES_AWAY: "reveals who asks (name, job, age, type or rare facts), even after a rewrite",
    UNNATURAL: "nobody would ask it like this, and the rewrite is the same or no better",
    NO_VERDICT: "a check without <natural>, <discreet> and <question>",
}
"""Reason -> what was found."""

_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("「", "」"))

_BULLET = re.compile(r"\A\s*(?:[-*•–—]|[0-9]{1,2}[.):、．])?\s*")


@dataclass(frozen=True)
class Source:
    """Input of one question.

    Attributes:
        memory: pieces that were drawn; empty where the user has none.
        features: inferred from these pieces; empty without any.
    """

    persona: Persona
    scenario: Scenario
    memory: tuple[str, ...] = ()
    features: tuple[str, ...] = ()

    def parents(self) -> tuple[str, ...]:
        """Parents for provenance."""
        features = [f"features:{digest_of(self.features)}"] if self.features else []
        return (
            f"scenario:{self.scenario.scenario}",
            *(f"memory:{digest_of([piece])}" for piece in self.memory),
            *features,
        )


def slots(settings: Settings, user: str) -> list[str]:
    """Ids of the requests for a user's specific questions, before their texts are known."""
    return [f"{user}:specific:{number}" for number in range(settings.specific)]


def write_specific(run: QuestionsRun) -> None:
    """Have a model write the missing questions.

    Up to four calls make one: features of the user's memory; the question; a check that may rewrite it, as in the paper, where a model judges and
    rewrites in one call (Appendix I); and the same check of a rewrite, which does not see the draft.
    """
    made = _Specific(run)
    run.progress.expect(made.calls())
    run.complete(
        made.sources, Call(made.told_memory, made.infer, "features"), Call(made.told, made.draft), Call(made.told_question, made.judge, NATURAL),
        Call(made.told_rewritten, made.judge, "reworded"), finish=made.finish,
    )  # fmt: skip


class _Specific:
    """The specific questions of a run; `sources` has the input of each slot's question."""

    def __init__(self, run: QuestionsRun):
        root, settings, self._run, self._settings = run.folder.root, run.settings, run, run.settings
        self._examples, table = question_examples(root), scenarios(root)
        self.sources: dict[str, Source] = {}
        for user, persona in run.people.items():
            drawn = draw_scenarios(settings, persona, table, settings.specific)
            for slot, scenario in zip(slots(settings, user), drawn, strict=True):
                self.sources[slot] = Source(persona, scenario, _handful(settings, persona, slot))
        self._profiled = {slot for slot, source in self.sources.items() if source.memory}
        names = [
            NATURAL,
            *(["features", "from_memory"] if self._profiled else []),
            *(["specific"] if len(self._profiled) < len(self.sources) else []),
        ]
        self._prompts = {name: run.prompt(name) for name in names}
        self._leaks = Leaks(run.people.values())
        self._found: dict[str, list[str]] = {}  # slot -> what gives its user away
        self._texts: dict[str, str] = {}  # slot -> its question, so far
        self._drafts: dict[str, str] = {}  # slot -> the question before it was rewritten
        specific = ((question.id, question.question) for question in run.questions if question.category == "specific")
        self._seen = Seen(NEAR, specific)

    def calls(self) -> int:
        missing = self.sources.keys() - self._run.done
        return 2 * len(missing) + len(missing & self._profiled)

    def told_memory(self, slot: str) -> str | None:
        source = self.sources[slot]
        if self._run.time(slot):  # in place of one that was refused, from other pieces
            memory = _handful(self._settings, source.persona, self._draw(slot))
            self.sources[slot] = source = replace(source, memory=memory, features=())
        return self._prompts["features"].filled(memory=_lines(source.memory)) if slot in self._profiled else None

    def infer(self, slot: str, reply: Reply) -> None:
        features = _features(reply.text)
        reason = checks.fault("\n".join(features) or reply.text, self._settings.language, reply.cut)
        if reason or not features:
            raise Refusal(reason or NO_FEATURES, reply.text)
        self.sources[slot] = replace(self.sources[slot], features=features)

    def told(self, slot: str) -> str:
        source, example = (
            self.sources[slot],
            self._settings.generator("example", self._draw(slot)).choice(self._examples),
        )
        texts = {"scenario": source.scenario.text, "memory": _lines(source.memory), "example": example}
        if source.features:
            return self._prompts["from_memory"].filled(features=_lines(source.features), **texts)
        return self._prompts["specific"].filled(persona=source.persona.text, **texts)

    def draft(self, slot: str, reply: Reply) -> None:
        text = _unquoted(reply.text)
        if reason := checks.fault_of_question(text, self._settings.language, reply.cut):
            raise Refusal(reason, reply.text)
        self._texts[slot] = " ".join(text.split())
        self._drafts.pop(slot, None)

    def told_question(self, slot: str) -> str:
        persona, text = self.sources[slot].persona, self._texts[slot]
        self._found[slot] = self._leaks.found(persona, text)
        return self._prompts[NATURAL].filled(persona=persona.text, question=text, leaks="\n".join(self._found[slot]))

    def told_rewritten(self, slot: str) -> str | None:
        return self.told_question(slot) if slot in self._drafts else None

    def judge(self, slot: str, reply: Reply) -> None:
        # Questions in which our rules find a leak fail, too.
        natural, discreet = (prompts.says_yes(reply.text, tag) for tag in ("natural", "discreet"))
        text, new = self._texts[slot], " ".join((prompts.tagged(reply.text, "question") or "").split())
        if natural is None or discreet is None or not new:
            raise Refusal(NO_VERDICT, reply.text)
        if natural and discreet and not self._found[slot]:
            return
        if slot in self._drafts or new == text:
            raise Refusal(GIVES_AWAY if natural else UNNATURAL, text)
        if reason := checks.fault_of_question(new, self._settings.language):
            raise Refusal(reason, new)
        self._texts[slot], self._drafts[slot] = new, text

    def finish(self, slots: Iterable[str]) -> None:
        # Near duplicates are refused.
        run = self._run
        for slot in slots:
            text, source = self._texts[slot], self.sources[slot]
            if like := self._seen.like(text):
                run.refuse(slot, SIMILAR, text, like)
                continue
            self._seen.add(slot, text)
            user, about = source.persona.user_id, source.scenario.scenario
            question = Question(
                id=question_id(user, text), user_id=user, category="specific", scenario=about, question=text
            )
            if source.memory:
                run.bases.append(Basis(id=question.id, features=source.features, memory=source.memory))
            names = (*(("features", "from_memory") if source.features else ("specific",)), NATURAL)
            versions = ", ".join(self._prompts[name].version for name in names)
            draft = [f"draft:{digest_of([self._drafts[slot]])}"] if slot in self._drafts else []
            run.add(question, versions, slot, *source.parents(), *draft)
            run.done.add(slot)

    def _draw(self, slot: str) -> str:
        time = self._run.time(slot)
        return f"{slot}:{time}" if time else slot


class _Example(msgspec.Struct):
    """A line of examples.jsonl."""

    scenario: NonEmpty
    question: NonEmpty
    features: tuple[str, ...] = ()


def question_examples(root: Path) -> list[str]:
    """The examples of a build, formatted for a prompt. Raises DataError if there are none, or a line lacks its question."""
    path = given(root, EXAMPLES, 'one {"features": ["..."], "scenario": "...", "question": "..."} per line')
    found = []
    for number, row in rows(path):
        example = decoded(f"{path}, line {number}", row, _Example)
        told = f"<user>\n{_lines(example.features)}\n</user>\n" if example.features else ""
        found.append(f"{told}<situation>{example.scenario}</situation>\n<question>{example.question}</question>")
    return found


def _handful(settings: Settings, persona: Persona, slot: str) -> tuple[str, ...]:
    if persona.memory_file is None or not persona.memory_file.is_file():
        return ()
    pieces = persona.memory
    return tuple(settings.generator("memory", slot).sample(pieces, min(HANDFUL, len(pieces))))


def _features(reply: str) -> tuple[str, ...]:
    lines = [_BULLET.sub("", line, count=1).strip() for line in reply.splitlines()]
    fitting = [line for line in lines if line and len(line) <= LONGEST_FEATURE and not line.endswith((":", "："))]
    return tuple(dict.fromkeys(fitting))[:MOST_FEATURES]


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _unquoted(text: str) -> str:
    inner = text[1:-1]
    for opening, closing in _QUOTES:
        inside = re.sub(r"(?<=\w)['’](?=\w)", "", inner)  # an apostrophe is no quote
        if (text[:1], text[-1:]) == (opening, closing) and inner and not {opening, closing} & set(inside):
            return inner.strip()
    return text
