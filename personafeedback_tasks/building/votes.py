"""The pairs of a build as a study: items for annotators, and the votes that make labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..annotation.assignment import Assignment
from ..annotation.items import Item, guidelines
from ..annotation.rows import Vote
from ..annotation.study import Say, Study
from ..common.errors import DataError
from .basis import Bases
from .build import Build
from .rows import TEST, Answer, Origin, Pair, Person, Question
from .steps import PACKS, RELEASE, VOTES
from .tiers import FEW_VOTES, REASONS, label_pairs, label_rule

GUIDELINES = guidelines(Path(__file__).with_name("guidelines.yaml"))
"""Language -> what annotators are told."""


def write_packs(build: Build, form: str, say: Say) -> None:
    """Write each annotator's pack, and say how many votes a label needs. Raises DataError if there are no pairs, or a
    text was edited after answers were written for it."""
    build.refuse_strangers()
    build.need(Answer)
    study = study_of(build, build.questions(TEST))
    if not study.asked.items:
        raise DataError(
            f"{build.path(Pair)}: found no pair of a test person whose question and person are kept, expected some. "
            f"Look at the column keep of {build.path(Question)} and {build.path(Person)}."
        )
    Bases(build).refuse_edited(build.questions(), build.read(Answer), build.by_id(Origin))
    say(label_rule(build.settings.votes))
    study.write_packs(form, say)


def take_votes(build: Build, files: Sequence[Path], drop: Sequence[str], say: Say) -> None:
    """Add votes, drop annotators, and report each annotator's votes."""
    study = study_of(build, build.questions(TEST))
    if counted := study.take_votes(files, drop, say):
        labels = label_pairs(build, [vote for _, vote in counted])
        few = sum(label.pair.id in study.asked.by_id and label.reason == FEW_VOTES for label in labels)
        if few:
            say(f"! {few:,} pairs have too few votes to become cases: {REASONS[FEW_VOTES]}. Wait for more votes.")
    if build.read(Vote):
        say(f"Next: {RELEASE.line(build.root)}")


def study_of(build: Build, asked: Iterable[Question]) -> Study:
    """The study in which people vote on the pairs of these questions; pairs that lack an answer are left out."""
    settings, bases, answers = build.settings, Bases(build), build.by_id(Answer)
    questions, items = {question.id: question for question in asked}, []
    for pair in build.need(Pair):
        question = questions.get(pair.question_id)
        if question is not None and pair.first in answers and pair.second in answers:
            texts = {"persona": bases.for_voters(question).text, "question": question.question}
            options = {name: answers[name].text for name in sorted((pair.first, pair.second))}
            items.append(Item(id=pair.id, user_id=pair.user_id, texts=texts, options=options, faults=settings.faults))
    guideline = GUIDELINES.get(settings.language, GUIDELINES["en"])
    return Study(
        folder=build, annotators=settings.annotators, packs=PACKS.line(build.root), votes=VOTES.command(build.root),
        asked=Assignment(items=items, guidelines={"": guideline}, seed=settings.seed, votes=settings.votes),
    )  # fmt: skip
