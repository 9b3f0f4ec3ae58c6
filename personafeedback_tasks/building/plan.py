"""`build plan`: the persons, texts, pairs and votes that a set of a size takes, before anything is spent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..common.errors import OptionError
from .coins import label_rule
from .folder import Folder
from .rows import IMPORTED, TEST, Answer, Pair, Person, kept
from .status import next_line
from .steps import PERSONAS, Say
from .texts.answers import FIRST, REWRITES
from .texts.pairs import kinds
from .texts.personas import next_split
from .texts.runner import todo


@dataclass(frozen=True)
class BuildPlan:
    """Number of persons, texts, pairs and votes in a complete build."""

    pairs: int  # that people vote on: at least as many as were asked for
    votes: int
    persons: int
    test: int  # of the persons: those whose pairs people vote on
    new: int  # personas to be written
    personas: int  # the setting of that name with which there are so many; a team's own come on top
    questions: int
    answers: int


def plan(folder: Folder, size: int | None, models: int) -> BuildPlan:
    """Number of persons, texts, pairs and votes that a build needs with its settings.

    Args:
        size: pairs that people vote on; those of `personas` (build.yaml) if None.
        models: how many answer.

    Raises:
        DataError: a file of the build is broken.
        OptionError: with these settings there is no pair.
    """
    settings = folder.settings
    brought = {answer.id for answer in folder.read(Answer) if answer.strategy == IMPORTED}
    imported = sum(pair.first in brought for pair in folder.read(Pair))
    each = (settings.specific + settings.general) * kinds(models)
    if not (each and settings.test) and not imported:
        name = "test" if each else "specific and general"
        raise OptionError(
            f"{name} must be above 0 in {folder.root / 'build.yaml'} for pairs to vote on, got 0. Change it."
        )
    people = folder.read(Person)
    splits, of_split = [person.split for person in people], Counter(person.split for person in kept(people))

    def add_person() -> None:
        split = next_split(settings, splits)
        splits.append(split)
        of_split[split] += 1

    files = {path.stem for path in (folder.root / "persona").glob("*.json")}
    known = {person.user_id for person in people}
    for _ in files - known:  # a team's own, not in people.csv yet
        add_person()
    done = settings.personas - len(todo(folder, PERSONAS))
    new, grows = 0, bool(each and settings.test)
    while grows and (imported + of_split[TEST] * each < size if size else new < settings.personas - done):
        add_person()
        new += 1
    asked = settings.specific + settings.general
    pairs = imported + of_split[TEST] * each
    return BuildPlan(
        pairs=pairs, votes=pairs * settings.votes, persons=of_split.total(), test=of_split[TEST], new=new, personas=done + new,
        questions=of_split.total() * asked,
        answers=(of_split.total() * len(FIRST) + of_split[TEST] * len(REWRITES)) * asked * models,
    )  # fmt: skip


def show_plan(folder: Folder, size: int | None, models: int, say: Say) -> None:
    """Print a plan."""
    made, settings = plan(folder, size, models), folder.settings
    say(f"{made.pairs:,} pairs of {made.test:,} test persons; {made.persons:,} persons in all")
    if made.questions:
        say(
            f"Texts: {made.questions:,} questions, and {made.answers:,} answers of {models} models; {made.new:,} personas are to be written"
        )
    if made.new and made.personas != settings.personas:
        say(
            f"Set personas: {made.personas} in {folder.root / 'build.yaml'} (it has {settings.personas}), or bring your own personas."
        )
    say(f"Votes to buy: {made.votes:,} ({settings.votes} to each pair)")
    say(
        "Assumed: no text fails, and no pair is left out for little agreement. Some will be, so plan more pairs than you need. `build pilot` shows "
        "what texts cost."
    )
    say(label_rule(settings.votes))
    say(next_line(folder))
