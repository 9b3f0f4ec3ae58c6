"""Where the chain from conversations to a reply breaks: of each step, the share that people find right, over users.

A step is there if people judged something of it. A share that cannot be formed is absent, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..common.statistics import Estimate, share
from ..common.text import same_text
from ..engine.earlier import Earlier
from ..engine.funnel import FunnelStep
from .extract import EXTRACT
from .histories import ForPrompt
from .judgments import Judgments, about_attribute, about_prompt, about_replies, is_among
from .made import Extracted, Replied, Selected, extracted, replied, selected
from .ratings import NO_DIFFERENCE
from .respond import RESPOND
from .select import SELECT

STAGES = (EXTRACT.name, SELECT.name, RESPOND.name)

T = TypeVar("T", Extracted, Selected, Replied)


FOUND, ACCEPTED, SELECTED, IRRELEVANT, BETTER, NO_BETTER, WORSE = STEPS = (
    FunnelStep("found", "extracted of true", "of the attributes that people accepted or named as missing, those that the model extracted", "extracted of true"),
    FunnelStep("accepted", "accepted", "of the extracted attributes, those that most people accept", "accepted"),
    FunnelStep("selected", "selected of relevant", "of the attributes that most people find relevant for a prompt, those that the model selected", "selected of relevant"),
    FunnelStep("irrelevant", "irrelevant of selected", "of the selected attributes, those that most people do not find relevant (over-retrieval)", "relevant of selected", wrong=True),
    FunnelStep("better", "better than generic", "of the personalized replies, those that people rate above 3 against the generic one, on average", "better than generic"),
    FunnelStep("no_better", "no better", "of the personalized replies, those rated at most 3: no difference, or worse"),
    FunnelStep("worse", "worse than generic", "of the personalized replies, those rated below 3"),
)  # fmt: skip

SENSITIVE = "sensitive"
SPLITS = ("source", SENSITIVE, "attributes")
"""By the conversations' source (of the later stages: where all attributes have the same), whether the prompt is sensitive, and how many
attributes the model noted in the conversation, chose from, or was told."""

COUNTS = ((1, 1), (2, 3), (4, 7), (8, 15))
"""Numbers of attributes that are put together; more are the last part."""


@dataclass(frozen=True)
class MadeChain:
    """What one model made, stage after stage; None where there is no run of that stage.

    Attributes:
        conversations: ids of all conversations that it read.
    """

    model: str
    conversations: frozenset[str] = frozenset()
    extracted: Sequence[Extracted] | None = None
    selected: Sequence[Selected] | None = None
    replied: Sequence[Replied] | None = None


@dataclass(frozen=True)
class FunnelItem:
    """Something that people judged.

    Attributes:
        prompt: its id, which users share; empty for what is about a conversation.
        value: 1 if it counts into the step's share, else 0.
        parts: split -> the part that it is in; without those that do not apply.
    """

    step: FunnelStep
    user: str
    prompt: str
    value: float
    parts: Mapping[str, str]


@dataclass(frozen=True)
class Funnel:
    """
    Attributes:
        steps: name -> its share; only of steps that people judged something of.
        parts: split -> part -> step -> its share there.
        notes: which steps are absent and why, and how much of each was judged, in sentences.
    """

    model: str
    steps: Mapping[str, Estimate]
    parts: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    notes: tuple[str, ...]


def made_chain(model: str, runs: Mapping[str, Earlier]) -> MadeChain:
    """What a model made.

    Args:
        runs: name of the task -> its run.
    """
    extracts, selects, responds = (runs.get(record.name) for record in (EXTRACT, SELECT, RESPOND))
    return MadeChain(
        model,
        frozenset(case.id for case in extracts.cases) if extracts else frozenset(),
        _in_order(extracted(extracts)) if extracts else None,
        _in_order(selected(selects)) if selects else None,
        _in_order(replied(responds)) if responds else None,
    )


def _in_order(made: list[T]) -> list[T]:
    """By id: harnesses log cases in orders of their own, and the last digit of a sum depends on it."""
    return sorted(made, key=lambda one: one.id)


def make_funnel(made: MadeChain, people: Judgments) -> Funnel:
    """The funnel of one model."""
    items = [*_found(made, people), *_accepted(made, people), *_selected(made, people), *_replies(made, people)]
    parts = {
        split: {
            part: of_steps([item for item in items if item.parts.get(split) == part])
            for part in _ordered({item.parts[split] for item in items if split in item.parts})
        }
        for split in SPLITS
    }
    return Funnel(
        made.model,
        of_steps(items),
        {split: of_parts for split, of_parts in parts.items() if len(of_parts) > 1},
        tuple(_notes(made, people, items)),
    )


def of_steps(items: Sequence[FunnelItem]) -> dict[str, Estimate]:
    """Name of a step -> its share, with the error over users, and over prompts where users share them."""
    found = {}
    for step in STEPS:
        own = [item for item in items if item.step is step]
        if own:
            prompts = [item.prompt for item in own]
            found[step.name] = share(
                [item.value for item in own], [item.user for item in own], also=prompts if all(prompts) else None
            )
    return found


def _found(made: MadeChain, people: Judgments) -> Iterator[FunnelItem]:
    """A conversation without a single extracted attribute counts as well."""
    noted: dict[str, list[str]] = {}
    for one in made.extracted or ():
        noted.setdefault(one.conversation_id, []).append(one.attribute)
    for name in sorted(people.lacking.keys() & made.conversations) if made.extracted is not None else ():
        conversation, own = people.lacking[name], noted.get(name, [])
        for attribute in people.true_of[name]:
            yield FunnelItem(
                FOUND, conversation.user_id, "", float(is_among(attribute, own)), _parts(conversation.source, None, len(own))
            )  # fmt: skip


def _accepted(made: MadeChain, people: Judgments) -> Iterator[FunnelItem]:
    counts: dict[str, int] = {}
    for one in made.extracted or ():
        counts[one.conversation_id] = counts.get(one.conversation_id, 0) + 1
    for one in made.extracted or ():
        row = people.extraction.rows.get(about_attribute(one.conversation_id, one.attribute))
        if row is not None:
            yield FunnelItem(
                ACCEPTED, one.user_id, "", float(not row.judgment), _parts(one.source, None, counts[one.conversation_id])
            )  # fmt: skip


def _selected(made: MadeChain, people: Judgments) -> Iterator[FunnelItem]:
    """A reply that cannot be read selects nothing."""
    sources = _sources(made)
    for one in made.selected or ():
        chosen = {same_text(attribute) for attribute in one.selected or ()}
        for attribute in one.attributes:
            row = people.relevance.rows.get(about_prompt(one.user_id, one.prompt, attribute))
            if row is None:
                continue
            parts = _parts(_source(sources, one, [attribute]), one.sensitive, len(one.attributes))
            if row.judgment:
                yield FunnelItem(SELECTED, one.user_id, one.prompt_id, float(same_text(attribute) in chosen), parts)
            if same_text(attribute) in chosen:
                yield FunnelItem(IRRELEVANT, one.user_id, one.prompt_id, float(not row.judgment), parts)


def _replies(made: MadeChain, people: Judgments) -> Iterator[FunnelItem]:
    sources = _sources(made)
    for one, rating in rated_replies(made, people):
        parts = _parts(_source(sources, one, one.attributes), one.sensitive, len(one.attributes))
        for step, value in (
            (BETTER, rating > NO_DIFFERENCE), (NO_BETTER, rating <= NO_DIFFERENCE), (WORSE, rating < NO_DIFFERENCE)
        ):  # fmt: skip
            yield FunnelItem(step, one.user_id, one.prompt_id, float(value), parts)


def rated_replies(made: MadeChain, people: Judgments) -> Iterator[tuple[Replied, float]]:
    """(both replies, people's mean rating of the personalized one) of those that people rated."""
    for one in made.replied or ():
        about = about_replies(one.user_id, one.prompt, one.generic, one.personalized)
        row = people.response.rows.get(about)
        if row is not None and row.judgment is not None:
            yield one, row.judgment


def _sources(made: MadeChain) -> dict[tuple[str, str], set[str]]:
    """(user, attribute) -> the sources of the conversations that the attribute was taken from."""
    found: dict[tuple[str, str], set[str]] = {}
    for one in made.extracted or ():
        found.setdefault((one.user_id, same_text(one.attribute)), set()).add(one.source)
    return found


def _source(sources: Mapping[tuple[str, str], set[str]], one: ForPrompt, attributes: Iterable[str]) -> str:
    """The source of all of them; empty if there are several, or nobody knows."""
    of = [sources.get((one.user_id, same_text(attribute)), set()) for attribute in attributes]
    found = set().union(*of)
    return found.pop() if len(found) == 1 and all(of) else ""


def _parts(source: str, sensitive: bool | None, count: int) -> dict[str, str]:
    parts = {"source": source} if source else {}
    if sensitive is not None:
        parts[SENSITIVE] = SENSITIVE if sensitive else "not sensitive"
    return parts | {"attributes": _counted(count)}


def _counted(count: int) -> str:
    for low, high in COUNTS:
        if count <= high:
            return f"{count}" if low == high or count < low else f"{low}–{high}"
    return f"{COUNTS[-1][1] + 1} or more"


def _ordered(parts: Iterable[str]) -> list[str]:
    """Numbers by their value, names by theirs."""
    return sorted(parts, key=lambda part: (int(part.split("–")[0].split(" ")[0]) if part[0].isdigit() else -1, part))


def _notes(made: MadeChain, people: Judgments, items: Sequence[FunnelItem]) -> Iterator[str]:
    """What is absent, and how much of the rest people judged."""
    counts = {step.name: sum(item.step is step for item in items) for step in STEPS}
    if made.extracted is None:
        yield "No run of recenter_extract: nothing is said of what is extracted."
    else:
        yield _judged(counts["accepted"], len(made.extracted), "extracted attributes", "extraction.jsonl")
        if not counts["found"]:
            yield "Nobody was asked what is missing in these conversations: how much of what is true was extracted is unknown."
    if made.selected is None:
        yield "No run of recenter_select: nothing is said of what is selected."
    else:
        shown = [(one, attribute) for one in made.selected for attribute in one.attributes]
        known = sum(about_prompt(one.user_id, one.prompt, of) in people.relevance.rows for one, of in shown)
        yield _judged(known, len(shown), "attributes to select from", "relevance.jsonl")
        if unread := sum(one.selected is None for one in made.selected):
            yield f"{unread:,} of {len(made.selected):,} selections could not be read: they select nothing."
    if made.replied is None:
        yield "No run of recenter_respond: nothing is said of the replies."
    else:
        yield _judged(counts["better"], len(made.replied), "pairs of replies", "response.jsonl")
    disputed = people.extraction.disputed + people.relevance.disputed + people.response.disputed
    if disputed:
        yield f"{disputed:,} judgments are left out: rows with the same texts have different ones."


def _judged(count: int, of: int, what: str, file: str) -> str:
    if not count:
        return f"People judged none of the {of:,} {what} (no row of {file} has the same texts): this step is absent."
    return f"People judged {count:,} of the {of:,} {what}."
