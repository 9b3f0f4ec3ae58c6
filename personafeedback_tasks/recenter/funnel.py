"""Where the chain from conversations to a reply breaks: of each step, the share that people find right, over users.

A step is there if people judged something of it, or a judge in their place that has an exam. A share that cannot be formed is absent, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..common.statistics import Estimate, complement, share
from ..common.text import same_text
from ..engine.funnel import Funnel, FunnelStep, JudgedSteps
from ..engine.share import JudgedShare, part_of
from .chains import MadeChain
from .extract import EXTRACT
from .histories import ForPrompt
from .judgments import Judgments, Key, StageJudge, Thing, about_attribute, about_prompt, about_replies, is_among
from .made import Extracted, Replied, Selected
from .ratings import NO_DIFFERENCE, WORSE_SHARE
from .respond import RESPOND
from .rows import Extraction, Relevance, Response
from .select import SELECT

FOUND, ACCEPTED, SELECTED, IRRELEVANT, BETTER, NO_BETTER, WORSE = STEPS = (
    FunnelStep("found", "extracted of true", "of the attributes that people accepted or named as missing, those that the model extracted"),
    FunnelStep("accepted", "accepted", "of the extracted attributes, those that most people accept"),
    FunnelStep("selected", "selected of relevant", "of the attributes that most people find relevant for a prompt, those that the model selected"),
    FunnelStep("irrelevant", "irrelevant of selected", "of the selected attributes, those that most people do not find relevant (over-retrieval)"),
    FunnelStep("better", "better than generic", "of the personalized replies, those that people rate above 3 against the generic one, on average"),
    FunnelStep("no_better", "no better", "of the personalized replies, those rated at most 3: no difference, or worse"),
    FunnelStep("worse", "worse than generic", "of the personalized replies, those rated below 3"),
)  # fmt: skip

SENSITIVE = "sensitive"
SPLITS = ("source", SENSITIVE, "attributes")
"""By the conversations' source (of the later stages: where all attributes have the same), whether the prompt is sensitive, and how many
attributes the model noted in the conversation, chose from, or was told."""

COUNTS = ((1, 1), (2, 3), (4, 7), (8, 15))
"""Numbers of attributes that are put together; more are the last part."""

TRUE = "true"
"""In place of a stage: things that are attributes by what people say, whether the model extracted them or not."""

Counted = Callable[[float, bool], bool]
"""(people's judgment, whether the model made it) -> whether it is so."""


def _all(said: float, made: bool) -> bool:
    return True


BY_PEOPLE: Mapping[str, Mapping[FunnelStep, tuple[Counted, Counted]]] = {
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

SO: Mapping[str, Callable[[float], bool]] = {
    Extraction.stage: bool,
    Relevance.stage: bool,
    Response.stage: lambda rating: rating > NO_DIFFERENCE,
}
"""Stage -> whether what its judges look for is so by people's judgment."""


def make_funnel(made: MadeChain, people: Judgments) -> Funnel:
    """The funnel of one model."""
    things = things_of(made, people)
    of_judges = {stage: _judged_steps(judge, stage, things[stage]) for stage, judge in people.judges.items()}
    judged = {stage: found for stage, found in of_judges.items() if isinstance(found, JudgedSteps)}

    def steps(split: str = "", part: str = "") -> dict[str, Estimate]:
        found: dict[FunnelStep, Estimate] = {}
        for stage, of_stage in things.items():
            own = [one for one in of_stage if not split or one.parts.get(split) == part]
            found |= _through(people.judges[stage], stage, own) if stage in judged else _by_people(stage, own)
        return {step.name: found[step] for step in STEPS if step in found}

    whole = steps()
    judged = {
        stage: replace(of, steps=tuple(name for name in of.steps if name in whole)) for stage, of in judged.items()
    }
    every = [one for of_stage in things.values() for one in of_stage]
    parts = {
        split: {
            part: of_part
            for part in _ordered({one.parts[split] for one in every if split in one.parts})
            if (of_part := steps(split, part))
        }
        for split in SPLITS
    }
    return Funnel(
        made.model,
        whole,
        {split: of_parts for split, of_parts in parts.items() if len(of_parts) > 1},
        judged,
        tuple(_notes(made, people, things, of_judges | judged)),
    )


def _by_people(stage: str, things: Sequence[Thing]) -> dict[FunnelStep, Estimate]:
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


def _through(judge: StageJudge, stage: str, things: Sequence[Thing]) -> dict[FunnelStep, Estimate]:
    """The same through a judge, without its errors."""
    so = SO[stage]
    whole = judge.share(things, so)
    if stage == Relevance.stage:
        both = judge.share(things, so, made=True)
        among = judge.share((one for one in things if one.made), so)
        found = {IRRELEVANT: _others(among), SELECTED: whole and part_of(both, whole)}
    elif stage == Extraction.stage:
        found = {ACCEPTED: _others(whole)}
    else:
        worse = judge.share(things, lambda rating: rating < NO_DIFFERENCE, WORSE_SHARE)
        found = {BETTER: whole and whole.best, NO_BETTER: _others(whole), WORSE: worse and worse.best}
    return {step: estimate for step, estimate in found.items() if estimate}


def _others(of: JudgedShare | None) -> Estimate | None:
    return complement(of.best) if of and of.best else None


def _judged_steps(judge: StageJudge, stage: str, things: Sequence[Thing]) -> JudgedSteps | str:
    """What goes through a judge; or why nothing does, in a sentence."""
    if not judge.exam:
        return f"{judge.model} judges in people's place without an exam, so its answers are left out. Pass its exam with --exam."
    found = judge.share(things, SO[stage])
    if found is None:
        return f"{judge.model} was asked about none of them (no row of its run has the same texts)."
    if found.best is None:
        return f"{judge.model} judges in people's place, and its answers are left out, since they cannot be corrected. {found.corrected.why_not}"
    if found.people == found.said.n:
        return f"People judged all that {judge.model} was asked about, so only their judgments count."
    return JudgedSteps(judge.model, judge.of.name, tuple(step.name for step in BY_PEOPLE[stage]), found)


def things_of(made: MadeChain, people: Judgments) -> dict[str, list[Thing]]:
    """What a model made or passed over, by the stage in which people judge it; under TRUE what it should have extracted."""
    noted: dict[str, list[str]] = {}
    sources: dict[tuple[str, str], set[str]] = {}
    for one in made.extracted or ():
        noted.setdefault(one.conversation_id, []).append(one.attribute)
        sources.setdefault((one.user_id, same_text(one.attribute)), set()).add(one.source)
    found: dict[str, list[Thing]] = {stage: [] for stage in BY_PEOPLE}

    def add(
        key: Key, one: Extracted | Selected | Replied, prompt: str, is_made: bool, parts: Mapping[str, str]
    ) -> None:
        row = people.rows.get(key)
        said = None if row is None else row.judgment
        found[key[0]].append(Thing(key, one.user_id, prompt, said, is_made, parts))

    for name in sorted(people.lacking.keys() & made.conversations) if made.extracted is not None else ():
        conversation, own = people.lacking[name], noted.get(name, [])
        parts = _parts(conversation.source, None, len(own))
        found[TRUE] += (
            Thing((), conversation.user_id, "", 1.0, is_among(attribute, own), parts)
            for attribute in people.true_of[name]
        )
    for one in made.extracted or ():
        parts = _parts(one.source, None, len(noted[one.conversation_id]))
        add(about_attribute(one.conversation_id, one.attribute), one, "", True, parts)
    for chosen in made.selected or ():
        names = {same_text(attribute) for attribute in chosen.selected or ()}  # none of a reply that cannot be read
        for attribute in chosen.attributes:
            parts = _parts(_source(sources, chosen, [attribute]), chosen.sensitive, len(chosen.attributes))
            key = about_prompt(chosen.user_id, chosen.prompt, attribute)
            add(key, chosen, chosen.prompt_id, same_text(attribute) in names, parts)
    for both in made.replied or ():
        parts = _parts(_source(sources, both, both.attributes), both.sensitive, len(both.attributes))
        key = about_replies(both.user_id, both.prompt, both.generic, both.personalized)
        add(key, both, both.prompt_id, True, parts)
    return found


def rated_replies(made: MadeChain, people: Judgments) -> Iterator[tuple[Replied, float]]:
    """(both replies, people's mean rating of the personalized one) of those that people rated."""
    for one in made.replied or ():
        row = people.rows.get(about_replies(one.user_id, one.prompt, one.generic, one.personalized))
        if row is not None and row.judgment is not None:
            yield one, row.judgment


def _source(sources: Mapping[tuple[str, str], set[str]], one: ForPrompt, attributes: Iterable[str]) -> str:
    """The source of the conversations that all of them were taken from; empty if there are several, or nobody knows."""
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


_NUMBERS = list(dict.fromkeys(map(_counted, range(COUNTS[-1][1] + 2))))
"""The names of numbers of attributes, the fewest first."""


def _ordered(parts: Iterable[str]) -> list[str]:
    """Numbers by their value, names by theirs."""
    return sorted(parts, key=lambda part: (_NUMBERS.index(part) if part in _NUMBERS else -1, part))


JUDGED = {
    Extraction.stage: (EXTRACT.name, "what is extracted", "extracted attributes"),
    Relevance.stage: (SELECT.name, "what is selected", "attributes to select from"),
    Response.stage: (RESPOND.name, "the replies", "pairs of replies"),
}
"""Stage -> (the task whose run makes it, what that is about, the things that are judged)."""


def _notes(
    made: MadeChain, people: Judgments, things: Mapping[str, Sequence[Thing]], judges: Mapping[str, JudgedSteps | str]
) -> Iterator[str]:
    """What is absent, and how much of the rest people judged, or a judge."""
    runs = (made.extracted, made.selected, made.replied)
    for (stage, (task, about, noun)), run in zip(JUDGED.items(), runs, strict=True):
        if run is None:
            yield f"No run of {task}: nothing is said of {about}."
            continue
        count, of, through = sum(one.said is not None for one in things[stage]), len(things[stage]), judges.get(stage)
        if isinstance(through, JudgedSteps):
            yield f"{through.judge} judged {through.share.said.n:,} of the {of:,} {noun}, and people {count:,}."
            for step in BY_PEOPLE[stage]:
                if step.name not in through.steps:
                    yield f"{step.label}: absent, since there is nothing to count or the errors of {through.judge} cannot be taken out of it."
        elif count:
            yield f"People judged {count:,} of the {of:,} {noun}."
        else:
            yield f"People judged none of the {of:,} {noun} (no row of {stage}.jsonl has the same texts): this step is absent."
        if isinstance(through, str):
            yield through
        if stage == Extraction.stage and made.unread:
            yield f"{made.unread:,} of {len(made.conversations):,} lists of attributes could not be read: nothing is extracted there."
        if stage == Extraction.stage and not things[TRUE]:
            yield "Nobody was asked what is missing in these conversations, so the share of true attributes that was extracted is unknown."
        if stage == Relevance.stage and (unread := sum(one.selected is None for one in made.selected or ())):
            yield f"{unread:,} of {len(run):,} selections could not be read: they select nothing."
    if people.disputed:
        yield f"{people.disputed:,} judgments are left out: rows with the same texts have different ones."
