"""The pairs of a build as a study: items for annotators, votes that make labels, and the texts that votes and labels are about."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ..annotation.assignment import Asked, drawn
from ..annotation.items import LETTERS, Item, guidelines
from ..annotation.rows import Digests, Dropped, PackItem, Vote
from ..annotation.study import Study, is_vote_on_item
from ..common.errors import DataError
from ..common.records import short
from .basis import Bases, answer_ids
from .coins import LEAST_VOTES, label_rule
from .folder import Folder
from .rows import Answer, Origin, Pair, Person, Question, Tiered, kept
from .settings import FILE
from .steps import PACKS, RELEASE, VOTES, Say

GUIDELINES = guidelines(Path(__file__).with_name("guidelines.yaml"))
"""Language -> what annotators are told."""


def write_packs(folder: Folder, form: str, say: Say) -> None:
    """Write each annotator's pack, and say how many votes a label needs."""
    study = study_of(folder, asked(folder))
    study.write_packs(form, say)
    say(label_rule(folder.settings.votes))


def take_votes(folder: Folder, files: Sequence[Path], drop: Sequence[str], say: Say) -> None:
    """Add votes, drop annotators, and report each annotator's votes. Raises DataError also if the texts were edited since."""
    pairs = folder.need(Pair)
    if files:
        refuse_edited_votes(folder)
    questions = {question.id for question in folder.questions()}
    study = study_of(folder, [pair for pair in pairs if pair.question_id in questions])
    study.take_votes(files, drop, say)
    votes, known = folder.read(Vote), {pair.id for pair in pairs}
    if not votes:
        return
    if removed := sum(is_vote_on_item(vote) and vote.pair_id not in known for vote in votes):
        say(f"{removed:,} votes are on pairs that {folder.path(Pair)} no longer has: they do not count")
    if edited := outdated(folder):
        say(f"{edited:,} votes are on texts that were edited since: they do not count")
    of_pair = Counter(vote.pair_id for vote in counted(folder))
    if lacking := sum(of_pair[pair] < LEAST_VOTES for pair in known):
        say(
            f"! {lacking:,} pairs have fewer than {LEAST_VOTES} votes: with so few, even full agreement may be chance, and no Medium or Hard case is "
            "made of them. Wait for more votes."
        )
    say(f"Next: {RELEASE.line(folder.root)}")


def asked(folder: Folder) -> list[Pair]:
    """Pairs whose question and person were kept. Raises DataError if there are none, or if a text is missing or was edited since."""
    questions, kept = folder.by_id(Question), {question.id for question in folder.questions()}
    answers, pairs = folder.by_id(Answer), folder.need(Pair)
    for pair in pairs:
        if pair.question_id not in questions:
            raise DataError(
                f"{folder.path(Pair)}: pair {pair.id} has the question {pair.question_id!r}, expected one of {folder.path(Question)}. Put "
                "the question back; keep = no drops it."
            )
        for name in (pair.first, pair.second):
            if name not in answers:
                raise DataError(
                    f"{folder.path(Pair)}: pair {pair.id} has the answer {name!r}, expected one of {folder.path(Answer)}. Put the answer back; "
                    "or remove the pair, if no pack has it yet."
                )
            if (answers[name].question_id, answers[name].user_id) != (pair.question_id, pair.user_id):
                raise DataError(
                    f"{folder.path(Pair)}: pair {pair.id} has the answer {name!r}, which is to another question or for another user, expected two "
                    "answers to the pair's own question. Put the pair back as it was."
                )
    if left := [pair for pair in pairs if pair.question_id in kept]:
        Bases(folder).refuse_edited(folder.questions(), folder.read(Answer), folder.by_id(Origin))
        return left
    raise DataError(
        f"{folder.path(Pair)}: found no pair whose question and person are kept, expected some. Look at the column keep of "
        f"{folder.path(Question)} and {folder.path(Person)}."
    )


def study_of(folder: Folder, pairs: Sequence[Pair]) -> Study:
    """The study in which people vote on pairs. Pairs without their question or answers are left out."""
    settings, bases = folder.settings, Bases(folder)
    questions, texts = folder.by_id(Question), {answer.id: answer.text for answer in folder.read(Answer)}
    easy, items, faults = {pair.id: pair.easy for pair in pairs}, [], settings.faults == "yes"
    for pair in pairs:
        question = questions.get(pair.question_id)
        both = sorted((pair.first, pair.second))
        if question is not None and all(name in texts for name in both):
            shown = {"persona": bases.shown(question).text, "question": question.question}
            options = {name: texts[name] for name in both}
            items.append(Item(id=pair.id, user_id=pair.user_id, texts=shown, options=options, faults=faults))

    made: dict[str, str] = {}

    def wrong_answer(item: Item) -> str:
        """An answer to another question, of another person; empty if all pairs are of one person."""
        if item.id not in made:
            others = (
                other
                for other in items
                if other.user_id != item.user_id and other.texts["question"] != item.texts["question"]
            )
            other = min(others, key=lambda other: drawn(settings.seed, "elsewhere", item.id, other.id), default=None)
            made[item.id] = next(iter(other.options)) if other else ""
        return made[item.id]

    def attention(item: Item, given: Sequence[str]) -> Item | None:
        """An answer to the question beside one to another question: an attentive reader takes the first."""
        right = easy[item.id] or next(iter(item.options))
        wrong = next((name for name in given if name not in item.options), "") or wrong_answer(item)
        if wrong not in texts:
            return None
        right = next((name for name in given if name in item.options), right)
        options = {name: texts[name] for name in sorted((right, wrong))}
        return replace(item, options=options, expected=(right,))

    guideline = GUIDELINES.get(settings.language, GUIDELINES["en"])
    return Study(
        folder=folder, title=settings.name, annotators=settings.annotators, setting=f"annotators in {FILE}", unit="pair", packs=PACKS.line(folder.root),
        votes=VOTES.command(folder.root),
        asked=Asked(items=items, attention=attention, guidelines={"": guideline}, seed=settings.seed, votes=settings.votes),
    )  # fmt: skip


def counted(folder: Folder) -> list[Vote]:
    """Votes that make labels: on pairs as they are now, of annotators who were not dropped, without CANNOT.

    Votes on pairs that were removed from pairs.jsonl after a pack had them, or on texts that were edited since, do not count.

    Raises:
        DataError: a vote names an unknown pair, or an answer that is not in its pair; or all votes on a pair are on edited texts.
    """
    refuse_edited_votes(folder)
    texts, pairs, dropped = Bases(folder), folder.by_id(Pair), folder.by_id(Dropped)
    given = {item.pair_id for item in folder.read(PackItem)}
    votes = []
    for number, vote in enumerate(folder.read(Vote), start=1):
        where, pair = f"{folder.path(Vote)}, line {number}", pairs.get(vote.pair_id)
        if not is_vote_on_item(vote) or (pair is None and vote.pair_id in given):
            continue
        if pair is None:
            raise DataError(
                f"{where}: found a vote on the pair {short(vote.pair_id)}, expected one of {folder.path(Pair)}. Put the pair back, or remove the vote."
            )
        if vote.chosen not in (pair.first, pair.second):
            raise DataError(
                f"{where}: found a vote for {short(vote.chosen)}, expected an answer of the pair {pair.id}. Remove the vote."
            )
        if vote.shown_as not in LETTERS[:2]:
            raise DataError(f"{where}: found shown_as = {short(vote.shown_as)}, expected A or B. Remove the vote.")
        if vote.annotator not in dropped and vote.texts == texts.digests(pair):
            votes.append(vote)
    return votes


def outdated(folder: Folder) -> int:
    """Number of votes on texts that their pair no longer has."""
    texts = Bases(folder)
    now = {pair.id: texts.digests(pair) for pair in folder.read(Pair)}
    return sum(vote.pair_id in now and vote.texts != now[vote.pair_id] for vote in folder.read(Vote))


NAMED = 5
"""Edited texts that an error names; it counts the others."""

P = TypeVar("P", Pair, Tiered)


def refuse_edited_votes(folder: Folder) -> None:
    """Raise DataError if a pair that was sent out or voted on has other texts now, and no newer pack or vote is about these.

    Pairs whose question or person was dropped are not checked.
    """
    sent, voted = _recorded(folder.read(PackItem)), _recorded(folder.read(Vote))
    texts = Bases(folder)
    edited: list[tuple[Pair, Digests, Digests]] = []
    for pair in _of_kept_questions(folder, folder.read(Pair)):
        known = sent.get(pair.id) or voted.get(pair.id)
        if known and texts.digests(pair) not in known:
            edited.append((pair, known[-1], texts.digests(pair)))
    if not edited:
        return
    # If an answer was written for the text that was edited, to vote again would not help.
    ids = {pair.question_id for pair, _, _ in edited}
    questions = [question for question in folder.questions() if question.id in ids]
    Bases(folder).refuse_edited(questions, folder.read(Answer), folder.by_id(Origin))
    by_pack = any(pair.id in sent for pair, _, _ in edited)
    raise DataError(
        f"{folder.root}: found {len(edited):,} pairs with other texts than people {'were sent' if by_pack else 'voted on'}: {_named(edited)}. Put "
        f"them back; or have these pairs voted on again with `{PACKS.line(folder.root)}`: votes on the old texts then no longer count."
    )


def refuse_edited_labels(folder: Folder, tiered: Iterable[Tiered]) -> None:
    """Raise DataError if a label is about other texts than its pair has now. A team's own labels name no texts."""
    texts = Bases(folder)
    labels = [(label, label.texts, texts.digests(label)) for label in _of_kept_questions(folder, tiered) if label.texts]
    if edited := [(label, before, now) for label, before, now in labels if before != now]:
        raise DataError(
            f"{folder.path(Tiered)}: found {len(edited):,} labels that are about other texts than the files have now: {_named(edited)}. Put them "
            f"back; or remove these lines; or have the pairs voted on: {PACKS.line(folder.root)}"
        )


def _recorded(rows: Iterable[PackItem] | Iterable[Vote]) -> dict[str, list[Digests]]:
    # The newest last.
    texts: dict[str, list[Digests]] = defaultdict(list)
    for row in rows:
        texts[row.pair_id].append(row.texts)
    return texts


def _of_kept_questions(folder: Folder, pairs: Iterable[P]) -> list[P]:
    users = {person.user_id for person in kept(folder.read(Person))}
    dropped = {row.id for row in folder.read(Question) if row.keep == "no" or row.user_id not in users}
    return [pair for pair in pairs if pair.question_id not in dropped]


def _named(edited: Sequence[tuple[Pair | Tiered, Digests, Digests]]) -> str:
    # Each pair comes with the digests of its texts as shown, and as they are now.
    counts: Counter[str] = Counter()
    for pair, before, now in edited:
        name = pair.id if isinstance(pair, Pair) else pair.pair_id
        texts = (
            f"the persona of {short(pair.user_id)}",
            f"the question {short(pair.question_id)}",
            *(f"the answer {short(answer)} of pair {name}" for answer in sorted(answer_ids(pair))),
        )
        if not before:
            counts["(nothing recorded what was shown)"] += 1
        counts.update(text for text, old, new in zip(texts, before, now, strict=False) if old != new)
    named = [f"{text}{f' ({count:,} pairs)' if count > 1 else ''}" for text, count in counts.most_common(NAMED)]
    return ", ".join([*named, *([f"and {len(counts) - NAMED:,} more"] if len(counts) > NAMED else [])])
