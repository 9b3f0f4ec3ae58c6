"""What a specific question is asked from: a scenario, and either features that a model infers from a handful of the user's memory (the
profiler of the paper's section 3.2) or the whole persona."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...common.records import broken, rows, short
from ...engine.cases import digest_of
from ...personafeedback.persona import Persona
from ..rows import Basis
from ..settings import MEMORY, Settings
from . import checks
from .asking import Reply, TextRun
from .scenarios import Scenario, draw_scenarios, scenarios
from .seeds import EXAMPLES, given

HANDFUL = 5
"""Pieces of memory that are drawn for a question."""

MOST_FEATURES, LONGEST_FEATURE = 8, 200
"""Features of a reply that are taken; characters of one. What is longer is an essay about the user."""

NO_FEATURES = "no_features"

MEANINGS: Mapping[str, str] = {NO_FEATURES: "the model named no feature of the user"}

_BULLET = re.compile(r"\A\s*(?:[-*•–—]|[0-9]{1,2}[.):、．])?\s*")


@dataclass(frozen=True)
class Source:
    """What one question is asked from.

    Attributes:
        memory: pieces that were drawn; empty where the user has none.
        features: that were inferred from them; empty where the question is asked from the whole persona.
    """

    persona: Persona
    scenario: Scenario
    memory: tuple[str, ...] = ()
    features: tuple[str, ...] = ()

    def parents(self) -> tuple[str, ...]:
        """What provenance says of it."""
        features = [f"features:{digest_of(self.features)}"] if self.features else []
        return (
            f"scenario:{self.scenario.scenario}",
            *(f"memory:{digest_of([piece])}" for piece in self.memory),
            *features,
        )


def slots(settings: Settings, user: str) -> list[str]:
    """What a user's specific questions are asked under, before anybody knows their texts."""
    return [f"{user}:specific:{number}" for number in range(settings.specific)]


class Sources:
    """The sources of a run's questions. Raises DataError if a file that they need is missing or broken."""

    def __init__(self, run: TextRun, people: Mapping[str, Persona]):
        root, self._run, self._settings = run.folder.root, run, run.settings
        self._examples, table = question_examples(root), scenarios(root)
        self.of: dict[str, Source] = {}
        for user, persona in people.items():
            drawn = draw_scenarios(self._settings, persona, table, self._settings.specific)
            for slot, scenario in zip(slots(self._settings, user), drawn, strict=True):
                self.of[slot] = Source(persona, scenario, _handful(self._settings, persona, slot))
        self._profiled = {
            slot for slot, source in self.of.items() if source.memory and self._settings.ask_from == MEMORY
        }
        names = [
            *(["features", "from_memory"] if self._profiled else []),
            *(["specific"] if len(self._profiled) < len(self.of) else []),
        ]
        self._prompts = {name: run.prompt(name) for name in names}

    def calls(self, done: set[str]) -> int:
        """What is asked for the questions that are not done: the text, a check, and the features of those from memory."""
        missing = self.of.keys() - done
        return 2 * len(missing) + len(missing & self._profiled)

    def infer(self, asked: list[str]) -> list[str]:
        """Have the model infer the features for questions; those of `asked` that can be written now."""
        for slot in filter(self._run.time, asked):  # in place of one that was refused, from other pieces
            source = self.of[slot]
            self.of[slot] = replace(
                source, memory=_handful(self._settings, source.persona, self._draw(slot)), features=()
            )
        missing = [slot for slot in asked if slot in self._profiled and not self.of[slot].features]
        told = {slot: self._prompts["features"].filled(memory=_lines(self.of[slot].memory)) for slot in missing}
        for slot, reply in self._run.ask(told, "features"):
            self._take(slot, reply)
        return [slot for slot in asked if slot not in self._profiled or self.of[slot].features]

    def _take(self, slot: str, reply: Reply) -> None:
        features = _features(reply.text)
        reason = checks.fault("\n".join(features) or reply.text, self._settings.language, reply.cut)
        if reason or not features:
            self._run.refuse(slot, reason or NO_FEATURES, reply.text)
            return
        self.of[slot] = replace(self.of[slot], features=features)

    def prompt(self, slot: str) -> str:
        """What the writer of a question is told."""
        source, example = self.of[slot], self._settings.generator("example", self._draw(slot)).choice(self._examples)
        texts = {"scenario": source.scenario.text, "memory": _lines(source.memory), "example": example}
        if source.features:
            return self._prompts["from_memory"].filled(features=_lines(source.features), **texts)
        return self._prompts["specific"].filled(persona=source.persona.text, **texts)

    def _draw(self, slot: str) -> str:
        """What random choices for a slot depend on."""
        time = self._run.time(slot)
        return f"{slot}:{time}" if time else slot

    def version(self, slot: str) -> str:
        """Of the prompts behind a question, as provenance has it."""
        names = ("features", "from_memory") if self.of[slot].features else ("specific",)
        return ", ".join(self._prompts[name].version for name in names)

    def basis(self, slot: str, question_id: str) -> list[Basis]:
        """The row of a question that was drawn from memory; none for others."""
        source = self.of[slot]
        return [Basis(id=question_id, features=source.features, memory=source.memory)] if source.memory else []


def question_examples(root: Path) -> list[str]:
    """The examples of a build, as a prompt shows them. Raises DataError: there are none, or a line lacks its question."""
    path = given(root, EXAMPLES, 'one {"features": ["..."], "scenario": "...", "question": "..."} per line')
    found = []
    for number, row in rows(path):
        where, features = f"{path}, line {number}", row.get("features", [])
        if not isinstance(features, list) or not all(isinstance(feature, str) for feature in features):
            raise broken(where, f"features = {short(features)}", "a list of strings")
        for key in ("scenario", "question"):
            if not isinstance(row.get(key), str) or not row[key].strip():
                raise broken(where, f"{key} = {short(row.get(key))}", "a non-empty string")
        user = "".join(f"\n- {feature}" for feature in features)
        told = f"<user>{user}\n</user>\n" if features else ""
        found.append(f"{told}<situation>{row['scenario']}</situation>\n<question>{row['question']}</question>")
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
