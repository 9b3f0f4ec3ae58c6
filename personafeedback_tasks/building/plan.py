"""`build plan`: the calls, tokens and votes that a set of a size takes, before anything is spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil
from statistics import mean
from typing import NamedTuple

from ..common.columns import in_columns
from ..common.errors import OptionError
from ..common.tokens import estimated
from ..engine.usage import Usage
from .coins import label_rule
from .folder import Folder
from .rows import FULL, IMPROVED, MASKED, TEST, Person, PoolQuestion, Refused, kept
from .settings import MEMORY as MEMORY_SETTING
from .spending import TOKENS, usage_rows, used_models
from .status import next_line
from .steps import ANSWERS, MEMORY, PERSONAS, QUESTIONS, STEPS, Say, Step, taken
from .texts import prompts, seeds
from .texts.answers import FIRST, REWRITES
from .texts.asking import settled
from .texts.general import AT_ONCE, CANDIDATES
from .texts.memories import SHOWN as SHOWN_PIECES
from .texts.pairs import kinds
from .texts.personas import SHOWN, names, next_split
from .texts.sources import HANDFUL
from .votes.growing import EVERY
from .votes.reading import DECIDING, SESSION, WORDS_PER_MINUTE, minutes

SEED, OTHER, PERSONA, PIECE, FEATURES, EXAMPLE = 150, 40, 900, 60, 60, 50
QUESTION, CHOICE, VERDICT, REASONS = 40, 15, 20, 100
"""Assumed tokens: of a seed, the line on an earlier persona, a persona (as long as the release's), a piece of memory, the features of a user,
an example, a question, a choice from the pool, a verdict on a question, and what a rewrite says about itself."""

PER_WORD = 1.5
"""Assumed tokens of a word of an answer."""


class Calls(NamedTuple):
    """The calls of one kind; the tokens are of all of them, estimated."""

    what: str
    calls: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class BuildPlan:
    """What a build takes."""

    pairs: int  # that people vote on: at least as many as were asked for
    votes: int
    persons: int
    test: int  # of the persons: those whose pairs people vote on
    new: int  # personas to be written
    personas: int  # the setting of that name with which there are so many; a team's own come on top
    questions: int
    models: int
    persona_tokens: int  # of a persona
    assumed: bool  # whether there is no persona yet whose tokens could be counted
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
    refused = settled(folder.read(Refused), PERSONAS)
    done = sum(name in {*known, *files, *refused} for name in names(settings))
    new = 0
    while of_split[TEST] * each * kinds(models) < size if size else new < settings.personas - done:
        add_person()
        new += 1
    pairs = of_split[TEST] * each * kinds(models)
    made = BuildPlan(
        pairs=pairs, votes=pairs * settings.votes, persons=of_split.total(), test=of_split[TEST], new=new, personas=done + new,
        questions=of_split.total() * each, models=models, persona_tokens=round(mean(estimated(texts))) if texts else PERSONA,
        assumed=not texts,
    )  # fmt: skip
    prompt = {name: estimated([prompts.load(folder.root, name).text])[0] for name in prompts.PLACEHOLDERS}
    calls = [
        kind
        for step in taken(STEPS, folder.root)
        if step.asks_models
        for kind in _CALLS[step](folder, made, prompt)
        if kind.calls
    ]
    return replace(made, calls=tuple(calls))


def show_plan(
    folder: Folder,
    size: int | None,
    models: int,
    say: Say,
    words_per_minute: int = WORDS_PER_MINUTE,
    pay: float | None = None,
) -> None:
    """Print a plan, see `plan`.

    Args:
        pay: of an annotator, in dollars an hour.
    """
    made, settings = plan(folder, size, models), folder.settings
    say(
        f"{made.pairs} pairs of {made.test} test persons; {made.persons} persons and {made.questions} questions in all; {models} models answer"
    )
    if made.personas != settings.personas:
        say(
            f"Set personas: {made.personas} in {folder.root / 'build.yaml'} (it has {settings.personas}), or bring your own personas."
        )
    say(f"Votes to buy: {made.votes:,} ({settings.votes} to each pair)")
    for line in _work(folder, made, words_per_minute, pay):
        say(line)
    say("")
    rows = [((kind.what,), Usage(kind.calls, kind.input_tokens, 0, kind.output_tokens, 0)) for kind in made.calls]
    for line in in_columns([("calls", "number", *TOKENS), *usage_rows(rows)]):
        say(line)
    say("")
    known = "assumed" if made.assumed else "the mean of this build"
    for line in (
        f"a persona has {made.persona_tokens} tokens ({known}), an answer {round(settings.words * PER_WORD)}, a question {QUESTION}",
        f"each question has all of its {kinds(models)} pairs: no text fails, is refused or is reworded, and screening drops nobody",
        "memory, the thinking of reasoning models and attention items are not counted",
        "no pair is left out for little agreement; some will be, so plan more pairs than you need",
    ):
        say(f"Assumed: {line}.")
    say(label_rule(settings.votes))
    say(f"Next: {PERSONAS.line(folder.root, used_models(folder, PERSONAS))}" if made.new else next_line(folder))


def _work(folder: Folder, made: BuildPlan, words_per_minute: int, pay: float | None) -> Iterator[str]:
    """What each annotator has to do: hours, sessions and money."""
    people, votes = folder.settings.annotators, folder.settings.votes
    pairs = made.votes / people
    items = pairs + max(2, pairs // EVERY)
    tokens = (
        items * (QUESTION + 2 * PER_WORD * folder.settings.words) + made.test * votes / people * made.persona_tokens
    )
    hours = minutes(tokens, items, words_per_minute) / 60
    money = f", ${hours * pay:,.2f}" if pay is not None else ""
    yield (
        f"Each of {people} annotators: about {pairs:,.0f} pairs and {items - pairs:,.0f} attention items, {hours:.1f} hours in {ceil(hours * 60 / SESSION)} "
        f"sessions{money}"
    )
    total = (
        f", ${people * hours * pay:,.2f} at ${pay:g} an hour" if pay is not None else "; --pay prints what they cost"
    )
    yield f"All annotators: {people * hours:,.1f} hours at {words_per_minute} words a minute and {60 * DECIDING:.0f} seconds to decide{total}"


Prompts = Mapping[str, int]
"""Name of a prompt -> its tokens before it is filled."""


def _personas(folder: Folder, made: BuildPlan, prompt: Prompts) -> Iterator[Calls]:
    yield _calls("personas", made.new, prompt["persona"] + SEED + SHOWN * OTHER, made.persona_tokens)


def _remembered(folder: Folder, made: BuildPlan) -> int:
    """How many persons will have a memory: those who have one, and all if there is a corpus."""
    if (folder.root / seeds.CORPUS).is_file():
        return made.persons
    return sum(folder.has_memory(path.stem) for path in (folder.root / "persona").glob("*.json"))


def _memories(folder: Folder, made: BuildPlan, prompt: Prompts) -> Iterator[Calls]:
    settings = folder.settings
    have = sum(folder.has_memory(person.user_id) for person in kept(folder.read(Person)))
    shown = SHOWN_PIECES * settings.memory * PIECE
    yield _calls("memories", made.persons - have, prompt["memory"] + made.persona_tokens + shown, 3 * settings.memory)


def _questions(folder: Folder, made: BuildPlan, prompt: Prompts) -> Iterator[Calls]:
    settings = folder.settings
    persona, specific, matched = made.persona_tokens, made.persons * settings.specific, made.persons * settings.general
    with_memory = _remembered(folder, made) * settings.specific if settings.ask_from == MEMORY_SETTING else 0
    handful = HANDFUL * PIECE
    yield _calls("features", with_memory, prompt["features"] + handful, FEATURES)
    from_memory = with_memory * (prompt["from_memory"] + handful + FEATURES + EXAMPLE)
    from_persona = (specific - with_memory) * (prompt["specific"] + persona + EXAMPLE)
    yield Calls("specific questions", specific, round(from_memory + from_persona), specific * QUESTION)
    yield _calls("specific questions, checked", specific, prompt["natural"] + persona + QUESTION, VERDICT + QUESTION)
    if matched:
        pool = folder.root / seeds.POOL
        unread = len(seeds.pool(folder.root)[0]) - len(folder.read(PoolQuestion)) if pool.is_file() else 0
        yield _calls("pool, filtered", -(-unread // AT_ONCE), prompt["open"] + AT_ONCE * QUESTION, CHOICE)
        shown = max(CANDIDATES, 10 * settings.general) * QUESTION
        yield _calls("general questions", made.persons, prompt["general"] + persona + shown, CHOICE)
        yield _calls("general questions, checked", matched, prompt["fits"] + persona + QUESTION, VERDICT)


def _answers(folder: Folder, made: BuildPlan, prompt: Prompts) -> Iterator[Calls]:
    shown, answer = float(1 - folder.settings.masked), folder.settings.words * PER_WORD
    personas: Mapping[str, float] = {FULL: made.persona_tokens, MASKED: made.persona_tokens * shown}
    for name, file in FIRST.items():
        tokens = prompt[file] + QUESTION + personas.get(name, 0)
        yield _calls(f"answers, {name}", made.questions * made.models, tokens, answer)
    asked = made.test * (folder.settings.specific + folder.settings.general)
    for name, files in REWRITES.items():
        tokens = mean(prompt[file] for file in files) + QUESTION + answer + made.persona_tokens * (name == IMPROVED)
        yield _calls(f"answers, {name}", asked * made.models, tokens, answer + REASONS)


_CALLS: Mapping[Step, Callable[[Folder, BuildPlan, Prompts], Iterator[Calls]]] = {
    PERSONAS: _personas,
    MEMORY: _memories,
    QUESTIONS: _questions,
    ANSWERS: _answers,
}


def _calls(what: str, calls: int, input_tokens: float, output_tokens: float) -> Calls:
    return Calls(what, calls, round(calls * input_tokens), round(calls * output_tokens))
