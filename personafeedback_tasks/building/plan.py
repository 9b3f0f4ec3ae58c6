"""`build plan`: the calls, tokens and votes that a set of a size takes, before anything is spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean

from ..common.errors import OptionError
from ..common.tokens import estimated
from .folder import Folder
from .rows import FULL, MASKED, TEST, Person, Refused
from .texts import prompts
from .texts.answers import FIRST, REWRITES
from .texts.pairs import KINDS
from .texts.personas import STEP as PERSONAS
from .texts.personas import names, next_split
from .texts.questions import CANDIDATES

SEED, PERSONA, QUESTION, CHOICE, ANSWER, REASONS = 150, 900, 40, 15, 400, 100
"""Assumed tokens: of a seed, a persona (as long as the release's), a question, a choice from the pool, an answer, and what a rewrite
says about itself."""


@dataclass(frozen=True)
class Calls:
    """The calls of one kind.

    Attributes:
        input_tokens, output_tokens: of all of them, estimated.
    """

    what: str
    calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Plan:
    """What a build takes.

    Attributes:
        pairs: that people vote on: at least as many as were asked for.
        persons, test: all persons, and those whose pairs people vote on.
        personas: the setting of that name with which there are so many; a team's own come on top.
        persona_tokens: of a persona; assumed unless the build has personas.
    """

    pairs: int
    votes: int
    persons: int
    test: int
    personas: int
    questions: int
    calls: tuple[Calls, ...]
    persona_tokens: int
    assumed: bool


def plan(folder: Folder, size: int | None, models: int) -> Plan:
    """What a build with its settings takes.

    Args:
        size: pairs that people vote on; those of `personas` (build.yaml) if None.
        models: that answer.

    Raises:
        DataError: a file of the build is broken.
        OptionError: with these settings there is no pair.
    """
    settings = folder.settings
    each = settings.specific + settings.general
    if not each or not settings.test:
        name = "test" if each else "specific and general"
        raise OptionError(
            f"{name} must be above 0 in {folder.root / 'build.yaml'} for pairs to vote on, got 0. Change it."
        )
    people = folder.read(Person)
    splits, kept = [one.split for one in people], Counter(one.split for one in people if one.keep != "no")
    texts = [folder.persona(one.user_id).text for one in people if one.keep != "no"]
    told = round(mean(estimated(texts))) if texts else PERSONA

    def enter() -> None:
        split = next_split(settings, splits)
        splits.append(split)
        kept[split] += 1

    files = {path.stem for path in (folder.root / "persona").glob("*.json")}
    known = {one.user_id for one in people}
    for _ in files - known:  # a team's own, not in people.csv yet
        enter()
    refused = {one.id for one in folder.read(Refused) if one.step == PERSONAS}
    done = sum(name in {*known, *files, *refused} for name in names(settings))
    new = 0
    while kept[TEST] * each * len(KINDS) < size if size else new < settings.personas - done:
        enter()
        new += 1
    test, persons = kept[TEST], kept.total()
    asked = test * each
    calls = _calls(folder, persons, new, asked, models, told)
    return Plan(
        pairs=asked * len(KINDS), votes=asked * len(KINDS) * settings.annotators, persons=persons, test=test, personas=done + new,
        questions=persons * each, calls=tuple(one for one in calls if one.calls), persona_tokens=told, assumed=not texts,
    )  # fmt: skip


def _calls(folder: Folder, persons: int, new: int, asked: int, models: int, told: int) -> list[Calls]:
    settings = folder.settings
    fixed = {name: estimated([prompts.load(folder.root, name).text])[0] for name in prompts.PLACEHOLDERS}
    shown = max(CANDIDATES, 10 * settings.general)
    answered = persons * (settings.specific + settings.general) * models
    personas: Mapping[str, float] = {FULL: told, MASKED: told * float(1 - settings.masked)}
    return [
        _of("personas", new, fixed["persona"] + SEED, told),
        _of("specific questions", persons * settings.specific, fixed["specific"] + told, QUESTION),
        _of("general questions", persons * bool(settings.general), fixed["general"] + told + shown * QUESTION, CHOICE),
        *(_of(f"answers, {name}", answered, fixed[name] + QUESTION + personas.get(name, 0), ANSWER) for name in FIRST),
        *(
            _of(f"answers, {name}", asked * models, fixed[prompt] + QUESTION + ANSWER, ANSWER + REASONS)
            for name, prompt in REWRITES.items()
        ),
    ]


def _of(what: str, calls: int, input_tokens: float, output_tokens: float) -> Calls:
    return Calls(what, calls, round(calls * input_tokens), round(calls * output_tokens))
