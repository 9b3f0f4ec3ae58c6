"""Where the chain from conversations to a reply breaks: of each step, the share that people find right, over users.

A step is there if people judged something of it. A share that cannot be formed is absent, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..common.statistics import Estimate, share
from ..common.text import same_text
from .chains import MadeChain
from .extract import EXTRACT
from .histories import ForPrompt
from .judgments import Judgments, Thing, about, is_among
from .ratings import NO_DIFFERENCE
from .respond import RESPOND
from .rows import Extraction, JudgedRow, Relevance, Response
from .select import SELECT


class Step(NamedTuple):
    """A share of the funnel.

    Attributes:
        meaning: what it is the share of, without a period.
    """

    name: str
    label: str
    meaning: str


@dataclass(frozen=True)
class Funnel:
    """What is left of one model's work after each step.

    Attributes:
        steps: name -> its share; only shares that can be formed.
        parts: split -> part -> step -> its share there.
        notes: what is absent and why, and how much was judged, in sentences.
    """

    model: str
    steps: Mapping[str, Estimate]
    parts: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    notes: Sequence[str]


FOUND, ACCEPTED, SELECTED, IRRELEVANT, BETTER, NO_BETTER, WORSE = STEPS = (
    Step("found", "extracted of true", "of the attributes that people accepted or named as missing, those that the model extracted"),
    Step("accepted", "accepted", "of the extracted attributes, those that most people accept"),
    Step("selected", "selected of relevant", "of the attributes that most people find relevant for a prompt, those that the model selected"),
    Step("irrelevant", "irrelevant of selected", "of the selected attributes, those that most people do not find relevant (over-retrieval)"),
    Step("better", "better than generic", "of the personalized replies, those that people rate above 3 against the generic one, on average"),
    Step("no_better", "no better", "of the personalized replies, those rated at most 3: no difference, or worse"),
    Step("worse", "worse than generic", "of the personalized replies, those rated below 3"),
)  # fmt: skip

SENSITIVE = "sensitive"
SPLITS = ("source", SENSITIVE)
"""By the conversations' source (of the later stages: where all attributes have the same), and whether the prompt is sensitive."""

TRUE = "true"
"""In place of a stage: things that are attributes by what people say, whether the model extracted them or not."""

Counted = Callable[[float, bool], bool]
"""(people's judgment, whether the model made it) -> whether it is so."""


def _all(said: float, made: bool) -> bool:
    return True


BY_PEOPLE: Mapping[str, Mapping[Step, tuple[Counted, Counted]]] = {
    TRUE: {FOUND: (_all, lambda said, made: made)},
    Extraction.stage: {ACCEPTED: (_all, lambda said, made: not said)},
    Relevance.stage: {
        SELECTED: (lambda said, made: bool(said), lambda said, made: made),
        IRRELEVANT: (lambda said, made: made, lambda said, made: not said),
    },
    Response.stage: {
        BETTER: (_all, lambda said, made: said > NO_DIFFERENCE),
        NO_BETTER: (_all, lambda said, made: said <= NO_DIFFERENCE),
        WORSE: (_all, lambda said, made: said < NO_DIFFERENCE),
    },
}
"""Stage -> step -> (which things count, those of which are its share)."""


def make_funnel(made: MadeChain, people: Judgments) -> Funnel:
    """The funnel of one model."""
    things = things_of(made, people)

    def steps(split: str = "", part: str = "") -> dict[str, Estimate]:
        found: dict[Step, Estimate] = {}
        for stage, of_stage in things.items():
            own = [one for one in of_stage if not split or one.parts.get(split) == part]
            found |= _by_people(stage, own)
        return {step.name: found[step] for step in STEPS if step in found}

    every = [one for of_stage in things.values() for one in of_stage]
    parts = {
        split: {
            part: of_part
            for part in sorted({one.parts[split] for one in every if split in one.parts})
            if (of_part := steps(split, part))
        }
        for split in SPLITS
    }
    return Funnel(
        made.model,
        steps(),
        {split: of_parts for split, of_parts in parts.items() if len(of_parts) > 1},
        tuple(_notes(made, people, things)),
    )


def _by_people(stage: str, things: Sequence[Thing]) -> dict[Step, Estimate]:
    """The shares of a stage, with the error over users, and over prompts where users share them."""
    found = {}
    for step, (counts, is_so) in BY_PEOPLE[stage].items():
        own = [(one, one.said) for one in things if one.said is not None and counts(one.said, one.made)]
        if own:
            prompts = [one.prompt for one, _ in own]
            found[step] = share(
                [float(is_so(said, one.made)) for one, said in own],
                [one.user for one, _ in own],
                also=prompts if all(prompts) else None,
            )
    return found


def things_of(made: MadeChain, people: Judgments) -> dict[str, list[Thing]]:
    """What a model made or passed over, by the stage in which people judge it; under TRUE what it should have extracted."""
    noted: dict[str, list[str]] = {}
    sources: dict[tuple[str, str], set[str]] = {}
    for one in made.extracted or ():
        noted.setdefault(one.conversation_id, []).append(one.attribute)
        sources.setdefault((one.user_id, same_text(one.attribute)), set()).add(one.source)
    found: dict[str, list[Thing]] = {stage: [] for stage in BY_PEOPLE}

    def add(row: JudgedRow, prompt: str, is_made: bool, parts: Mapping[str, str]) -> None:
        judged = people.rows.get(key := about(row))
        said = None if judged is None else judged.judgment
        found[row.stage].append(Thing(key, row.user_id, prompt, said, is_made, parts))

    for name in sorted(people.lacking.keys() & made.conversations) if made.extracted is not None else ():
        conversation, own = people.lacking[name], noted.get(name, [])
        parts = _parts(conversation.source, None)
        found[TRUE] += (
            Thing((), conversation.user_id, "", 1.0, is_among(attribute, own), parts)
            for attribute in people.true_of[name]
        )
    for one in made.extracted or ():
        add(one, "", True, _parts(one.source, None))
    for chosen in made.selected or ():
        names = {same_text(attribute) for attribute in chosen.selected or ()}  # none of a reply that cannot be read
        for attribute in chosen.attributes:
            parts = _parts(_source(sources, chosen, [attribute]), chosen.sensitive)
            row = Relevance(chosen.id, chosen.user_id, chosen.prompt, attribute)
            add(row, chosen.prompt_id, same_text(attribute) in names, parts)
    for both in made.replied or ():
        parts = _parts(_source(sources, both, both.attributes), both.sensitive)
        add(both.row, both.prompt_id, True, parts)
    return found


def _source(sources: Mapping[tuple[str, str], set[str]], one: ForPrompt, attributes: Iterable[str]) -> str:
    """The source of the conversations that all of them were taken from; empty if there are several, or nobody knows."""
    of = [sources.get((one.user_id, same_text(attribute)), set()) for attribute in attributes]
    found = set().union(*of)
    return found.pop() if len(found) == 1 and all(of) else ""


def _parts(source: str, sensitive: bool | None) -> dict[str, str]:
    parts = {"source": source} if source else {}
    if sensitive is not None:
        parts[SENSITIVE] = SENSITIVE if sensitive else "not sensitive"
    return parts


JUDGED = {
    Extraction.stage: (EXTRACT.name, "what is extracted", "extracted attributes"),
    Relevance.stage: (SELECT.name, "what is selected", "attributes to select from"),
    Response.stage: (RESPOND.name, "the replies", "pairs of replies"),
}
"""Stage -> (the task whose run makes it, what that is about, the things that are judged)."""


def _notes(made: MadeChain, people: Judgments, things: Mapping[str, Sequence[Thing]]) -> Iterator[str]:
    """What is absent, and how much of the rest people judged."""
    runs = (made.extracted, made.selected, made.replied)
    for (stage, (task, what, noun)), run in zip(JUDGED.items(), runs, strict=True):
        if run is None:
            yield f"No run of {task}: nothing is said of {what}."
            continue
        count, of = sum(one.said is not None for one in things[stage]), len(things[stage])
        if count:
            yield f"People judged {count:,} of the {of:,} {noun}."
        else:
            yield f"People judged none of the {of:,} {noun} (no row of {stage}.jsonl has the same texts): this step is absent."
        if stage == Extraction.stage and made.unread:
            yield f"{made.unread:,} of {len(made.conversations):,} lists of attributes could not be read: nothing is extracted there."
        if stage == Extraction.stage and not things[TRUE]:
            yield "Nobody was asked what is missing in these conversations, so the share of true attributes that was extracted is unknown."
        if stage == Relevance.stage and (unread := sum(one.selected is None for one in made.selected or ())):
            yield f"{unread:,} of {len(run):,} selections could not be read: they select nothing."
    if people.disputed:
        yield f"{people.disputed:,} judgments are left out: rows with the same texts have different ones."
