"""`build plan`: the calls, tokens and votes that a set of a size takes, before anything is spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import mean

from ..common.errors import OptionError
from ..common.tokens import estimated
from .folder import Folder
from .rows import FULL, MASKED, TEST, Person, Refused, kept
from .steps import ANSWERS, PERSONAS, QUESTIONS, STEPS, Step
from .texts import prompts
from .texts.answers import FIRST, REWRITES
from .texts.pairs import KINDS
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
class BuildPlan:
    """What a build takes.

    Attributes:
        pairs: that people vote on: at least as many as were asked for.
        persons, test: all persons, and those whose pairs people vote on.
        new: personas to be written.
        personas: the setting of that name with which there are so many; a team's own come on top.
        persona_tokens: of a persona; assumed unless the build has personas.
    """

    pairs: int
    votes: int
    persons: int
    test: int
    new: int
    personas: int
    questions: int
    models: int
    persona_tokens: int
    assumed: bool
    calls: tuple[Calls, ...] = ()


def plan(folder: Folder, size: int | None, models: int) -> BuildPlan:
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
    splits, of_split = [person.split for person in people], Counter(person.split for person in kept(people))
    texts = [folder.persona(person.user_id).text for person in kept(people)]

    def add_person() -> None:
        split = next_split(settings, splits)
        splits.append(split)
        of_split[split] += 1

    files = {path.stem for path in (folder.root / "persona").glob("*.json")}
    known = {person.user_id for person in people}
    for _ in files - known:  # a team's own, not in people.csv yet
        add_person()
    refused = {text.id for text in folder.read(Refused) if text.step == PERSONAS.name}
    done = sum(name in {*known, *files, *refused} for name in names(settings))
    new = 0
    while of_split[TEST] * each * len(KINDS) < size if size else new < settings.personas - done:
        add_person()
        new += 1
    pairs = of_split[TEST] * each * len(KINDS)
    made = BuildPlan(
        pairs=pairs, votes=pairs * settings.annotators, persons=of_split.total(), test=of_split[TEST], new=new, personas=done + new,
        questions=of_split.total() * each, models=models, persona_tokens=round(mean(estimated(texts))) if texts else PERSONA,
        assumed=not texts,
    )  # fmt: skip
    prompt = {name: estimated([prompts.load(folder.root, name).text])[0] for name in prompts.PLACEHOLDERS}
    calls = [one for step in STEPS if step.asks_models for one in _CALLS[step](folder, made, prompt) if one.calls]
    return replace(made, calls=tuple(calls))


Prompts = Mapping[str, int]
"""Name of a prompt -> its tokens before it is filled."""


def _personas(folder: Folder, made: BuildPlan, prompt: Prompts) -> Iterator[Calls]:
    yield _calls("personas", made.new, prompt["persona"] + SEED, made.persona_tokens)


def _questions(folder: Folder, made: BuildPlan, prompt: Prompts) -> Iterator[Calls]:
    settings = folder.settings
    told, shown = made.persona_tokens, max(CANDIDATES, 10 * settings.general) * QUESTION
    yield _calls("specific questions", made.persons * settings.specific, prompt["specific"] + told, QUESTION)
    yield _calls("general questions", made.persons * bool(settings.general), prompt["general"] + told + shown, CHOICE)


def _answers(folder: Folder, made: BuildPlan, prompt: Prompts) -> Iterator[Calls]:
    told = made.persona_tokens
    personas: Mapping[str, float] = {FULL: told, MASKED: told * float(1 - folder.settings.masked)}
    for name in FIRST:
        tokens = prompt[name] + QUESTION + personas.get(name, 0)
        yield _calls(f"answers, {name}", made.questions * made.models, tokens, ANSWER)
    asked = made.pairs // len(KINDS)
    for name, file in REWRITES.items():
        yield _calls(f"answers, {name}", asked * made.models, prompt[file] + QUESTION + ANSWER, ANSWER + REASONS)


_CALLS: Mapping[Step, Callable[[Folder, BuildPlan, Prompts], Iterator[Calls]]] = {
    PERSONAS: _personas,
    QUESTIONS: _questions,
    ANSWERS: _answers,
}


def _calls(what: str, calls: int, input_tokens: float, output_tokens: float) -> Calls:
    return Calls(what, calls, round(calls * input_tokens), round(calls * output_tokens))
