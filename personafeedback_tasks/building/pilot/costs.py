"""What a build has cost so far, and what all of it will cost if it goes on as it went: with texts that are refused, replaced and lost."""

from __future__ import annotations

from ...engine.usage import NONE, Usage
from ..folder import Folder
from ..rows import OWN, TEST, Answer, Origin, Pair, Person, Refused, kept
from ..spending import Spending, Took, spent
from ..steps import ANSWERS, MEMORY, PERSONAS, QUESTIONS
from ..texts.asking import settled
from ..texts.pairs import kinds
from ..texts.personas import names


def step_costs(folder: Folder) -> tuple[Spending, Spending]:
    """(what each step has taken, for so many persons; what it will have taken in the end, if each of the others takes as much)."""
    usage: dict[str, Usage] = {}
    for (name, _), of_model in spent(folder.root)[0].items():
        usage[name] = usage.get(name, NONE) + of_model
    written = {(origin.kind, origin.parents[:1]): origin for origin in folder.read(Origin) if origin.model != OWN}
    chosen = {parents[0] for kind, parents in written if kind == "memory"}
    people, to_come = kept(folder.read(Person)), len(missing(folder))
    own = sum(folder.has_memory(one.user_id) and one.user_id not in chosen for one in people)
    persons = {
        PERSONAS: (folder.settings.personas - to_come, folder.settings.personas),
        MEMORY: (len(chosen), len(people) + to_come - own),
        QUESTIONS: (len({parents[0] for kind, parents in written if kind == "question"}), len(people) + to_come),
        ANSWERS: (len({answer.user_id for answer in folder.read(Answer)}), len(people) + to_come),
    }
    so_far, in_the_end = list[Took](), list[Took]()
    for step, (done, whole) in persons.items():
        if done and step.name in usage:
            took, whole = usage[step.name], max(done, whole)
            so_far.append(((step.name, f"{done:,}"), took))
            in_the_end.append(((step.name, f"{whole:,}"), Usage(*(number * whole / done for number in took.each))))
    return so_far, in_the_end


def pairs_in_the_end(folder: Folder) -> str:
    """A sentence or two on the pairs and votes of the whole build, if the persons still to come lose as many; empty before there are answers."""
    settings, answers = folder.settings, folder.read(Answer)
    test = {person.user_id for person in kept(folder.read(Person)) if person.split == TEST}
    if not (answered := {answer.user_id for answer in answers} & test):
        return ""
    made = sum(pair.user_id in answered for pair in folder.read(Pair))
    each = (settings.specific + settings.general) * kinds(len({answer.model for answer in answers}))
    possible, persons = len(answered) * each, len(test) + round(len(missing(folder)) * settings.test)
    pairs = round(made / len(answered) * persons)
    return (
        f"{made:,} of {possible:,} possible pairs were made ({100 * made / possible:.0f} %). At this rate {persons:,} test persons give about {pairs:,} pairs "
        f"before screening: {pairs * settings.votes:,} votes, {settings.votes} to each pair."
    )


def missing(folder: Folder) -> set[str]:
    """The personas that are still to be written."""
    there = {person.user_id for person in folder.read(Person)}
    return {*names(folder.settings)} - there - settled(folder.read(Refused), PERSONAS)
