"""Runs of the three stages -> chains, and where each breaks: of each step, the share that people find right.

A step without judgments is absent, never 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from ..annotation.items import FAULTS
from ..common.errors import OptionError
from ..common.outputs import Output
from ..common.text import same_text
from ..core.earlier import Earlier
from ..core.report import Line
from ..parsing.answers import REASONS
from ..stats.clusters import Clusters
from ..stats.estimates import Estimate, share
from .extract import EXTRACT, extracted
from .judgments import Judgments, is_among
from .respond import RESPOND, replied
from .response import NO_DIFFERENCE
from .rows import Response
from .select import SELECT, selected

TASKS = (EXTRACT.name, SELECT.name, RESPOND.name)


class StageRun(NamedTuple):
    """A run of one stage."""

    model: str
    task: str
    earlier: Earlier
    came_from: str  # `name` of the run that it went on from
    filtered_by: str  # the filter before it, or `none`

    @property
    def name(self) -> str:
        return f"{self.earlier.model} {self.earlier.digest}"


def chains(runs: Sequence[StageRun]) -> dict[str, dict[str, StageRun]]:
    """Name of a chain -> task -> its run: each run that no other of its model goes on from, with those before it.

    Replies with a filter make a chain of their own, `MODEL, filtered`. Of runs with the same replies the first counts.

    Raises:
        OptionError: a model has two runs of one stage, and not because one chain has a filter and the other has none.
    """
    distinct: dict[tuple[str, str, str, str], StageRun] = {}
    for run in runs:
        distinct.setdefault((run.model, run.task, run.name, run.filtered_by), run)
    by_name = {run.name: run for run in distinct.values() if run.task != RESPOND.name}
    before = {run.came_from for run in distinct.values()}
    found: dict[str, dict[str, StageRun]] = defaultdict(dict)
    for run in distinct.values():
        if run.name in before:
            continue
        own = found[run.model if run.filtered_by == "none" else f"{run.model}, filtered"]
        step: StageRun | None = run
        while step is not None:
            if own.setdefault(step.task, step) is not step:
                raise OptionError(
                    f"{step.earlier.where}: found a second run of {step.task} by {step.model} (the first: "
                    f"{own[step.task].earlier.where}), expected one of each stage, or replies with a filter and "
                    "replies without one, each with the runs that they went on from. Pass one of them."
                )
            step = by_name.get(step.came_from)
    return {name: {task: found[name][task] for task in TASKS if task in found[name]} for name in sorted(found)}


_STEPS = {
    "found": ("extracted of true", "of the attributes that people accepted or named as missing, those extracted"),
    "accepted": ("accepted", "of the extracted attributes, those that most people accept"),
    "selected": ("selected of relevant", "of the attributes relevant to most people, those selected"),
    "irrelevant": ("irrelevant of selected", "of the selected attributes, those irrelevant to most people"),
    "better": ("better than generic", "of the personalized replies, those that people rate above 3 on average"),
    "worse": ("worse than generic", "of the personalized replies, those rated below 3"),
    "uncomfortable": ("uncomfortable", "of the personalized replies, to at least half of the people asked"),
    "over_personalized": ("over-personalized", "of the personalized replies, to as many"),
}
STEPS = tuple(Line(key, label, interval=True, meaning=meaning) for key, (label, meaning) in _STEPS.items())
"""The shares that the funnel has, in its order."""


class Funnel(msgspec.Struct, frozen=True, kw_only=True):
    """The shares of one model after each step.

    Attributes:
        model: the model as --name calls it.
        signatures: task -> all that its numbers depend on.
        steps: key of one of STEPS -> its share; steps without human judgments are absent.
        notes: caveats of the runs, what is absent and why, and how much was judged.
    """

    model: str
    signatures: Mapping[str, str]
    steps: Mapping[str, Estimate]
    notes: Sequence[str]


class ChainDocument(Output, frozen=True, kw_only=True):
    """`personafeedback chain --json`.

    Attributes:
        models: one for each model.
    """

    models: Sequence[Funnel]


class Judged(NamedTuple):
    """Something that people judged, as one step counts it."""

    step: str
    is_so: bool  # whether it counts towards the share
    user: str
    prompt: str = ""  # its id, which users share; empty for a conversation


def make_funnel(model: str, runs: Mapping[str, Earlier], people: Judgments) -> Funnel:
    """The funnel of one model, from its runs by task."""
    of_step: dict[str, list[Judged]] = defaultdict(list)
    notes: list[str] = []
    for task, (judged_in, what) in _OF_STAGE.items():
        if task not in runs:
            notes.append(f"No run of {task}: nothing is said of {what}.")
            continue
        judged, said = judged_in(runs[task], people)
        notes += said
        for one in judged:
            of_step[one.step].append(one)
    if people.disputed:
        notes.append(f"{people.disputed:,} judgments are left out: rows with the same texts have different ones.")
    steps = {}
    for step in STEPS:
        if own := of_step[step.key]:
            clusters = Clusters.of([one.user for one in own], [one.prompt for one in own])
            steps[step.key] = share([float(one.is_so) for one in own], clusters)
    return Funnel(model=model, signatures={}, steps=steps, notes=notes)


def _of_extract(run: Earlier, people: Judgments) -> tuple[list[Judged], list[str]]:
    noted = extracted(run)
    of_conversation: dict[str, list[str]] = defaultdict(list)
    accepted, found = [], []
    for one in noted:
        of_conversation[one.conversation_id].append(one.attribute)
        if row := people.of(one):
            accepted.append(Judged("accepted", not row.judgment, one.user_id))
    for name in sorted(people.lacking.keys() & {case.id for case in run.cases}):
        user = people.lacking[name].user_id
        for attribute in people.true_of[name]:
            found.append(Judged("found", is_among(attribute, of_conversation[name]), user))
    notes = [_count("extracted attributes", "extraction", len(accepted), len(noted))]
    if unread := sum(case.answers[0] in REASONS for case in run.cases):
        notes.append(
            f"{unread:,} of {len(run.cases):,} lists of attributes could not be read: nothing is extracted there."
        )
    if not found:
        notes.append(
            "Nobody was asked what is missing in these conversations, so the share of true attributes that was "
            "extracted is unknown."
        )
    return found + accepted, notes


def _of_select(run: Earlier, people: Judgments) -> tuple[list[Judged], list[str]]:
    shown = selected(run)
    found, judged = [], 0
    for one in shown:
        names = set(map(same_text, one.selected or ()))  # none of a reply that cannot be read
        for row in one.rows:
            if (judgment := people.of(row)) is None:
                continue
            judged += 1
            is_there = same_text(row.attribute) in names
            if judgment.judgment:
                found.append(Judged("selected", is_there, one.user_id, one.prompt_id))
            if is_there:
                found.append(Judged("irrelevant", not judgment.judgment, one.user_id, one.prompt_id))
    notes = [_count("attributes to select from", "relevance", judged, sum(len(one.attributes) for one in shown))]
    if unread := sum(one.selected is None for one in shown):
        notes.append(f"{unread:,} of {len(shown):,} selections could not be read: they select nothing.")
    return found, notes


def _of_respond(run: Earlier, people: Judgments) -> tuple[list[Judged], list[str]]:
    replies = replied(run)
    rated = [(one, row) for one in replies if isinstance(row := people.of(one.row), Response)]
    found = []
    for one, row in rated:
        rating = row.judgment
        assert rating is not None  # as of all rows of people's judgments
        steps = {"better": rating > NO_DIFFERENCE, "worse": rating < NO_DIFFERENCE}
        if row.found:
            steps |= {fault.replace("-", "_"): fault in row.found["personalized"] for fault in FAULTS}
        found += [Judged(step, is_so, one.user_id, one.prompt_id) for step, is_so in steps.items()]
    return found, [_count("pairs of replies", "response", len(rated), len(replies))]


_OF_STAGE = {
    EXTRACT.name: (_of_extract, "what is extracted"),
    SELECT.name: (_of_select, "what is selected"),
    RESPOND.name: (_of_respond, "the replies"),
}


def _count(noun: str, stage: str, judged: int, of: int) -> str:
    if judged:
        return f"People judged {judged:,} of the {of:,} {noun}."
    return (
        f"People judged none of the {of:,} {noun} (no row of {stage}.jsonl has the same texts): the step is left out."
    )
