"""Which texts a vote or a label is about: digests of the persona, the question and both answers as they were shown."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from ...annotation.items import digests
from ...annotation.rows import Digests, PackItem, Vote
from ...common.errors import DataError
from ...common.records import short
from ..basis import Bases
from ..folder import Folder
from ..rows import Answer, Origin, Pair, Person, Question, Tiered, kept
from ..steps import PACKS

NAMED = 5
"""Edited texts that an error names; it counts the others."""

P = TypeVar("P", Pair, Tiered)


def pair_digests(persona: str, question: str, answers: Mapping[str, str]) -> Digests:
    """The digests of the persona, the question and the two answers in the order of their ids, whichever side an answer was shown on.

    Args:
        answers: id -> text.
    """
    return digests((persona, question, *(answers[name] for name in sorted(answers))))


class ShownTexts:
    """The digests of a build's pairs, as its files are now."""

    def __init__(self, folder: Folder):
        self._folder, self._bases = folder, Bases(folder)
        self._questions, self._answers = folder.by_id(Question), folder.by_id(Answer)

    def of(self, pair: Pair | Tiered) -> Digests:
        """The digests of a pair. A text that is no longer there counts as an empty one. Raises DataError: its persona is broken."""
        answers = {name: self._answers[name].text if name in self._answers else "" for name in _answer_ids(pair)}
        question = self._questions.get(pair.question_id)
        return pair_digests(self._persona(pair.user_id, question), question.question if question else "", answers)

    def _persona(self, user: str, question: Question | None) -> str:
        if not self._folder.persona_path(user).is_file():
            return ""
        return (self._bases.shown(replace(question, user_id=user)) if question else self._folder.persona(user)).text


def _answer_ids(pair: Pair | Tiered) -> tuple[str, str]:
    return (pair.first, pair.second) if isinstance(pair, Pair) else (pair.chosen, pair.rejected)


def refuse_edited_votes(folder: Folder) -> None:
    """Raise DataError if a pair that was sent out or voted on has other texts now, and no newer pack or vote is about these.

    Pairs whose question or person was dropped are not checked.
    """
    sent, voted = _recorded(folder.read(PackItem)), _recorded(folder.read(Vote))
    texts = ShownTexts(folder)
    edited: list[tuple[Pair, Digests, Digests]] = []
    for pair in _of_kept_questions(folder, folder.read(Pair)):
        known = sent.get(pair.id) or voted.get(pair.id)
        if known and texts.of(pair) not in known:
            edited.append((pair, known[-1], texts.of(pair)))
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
    """Raise DataError if a label is about other texts than its pair has now. A label that a team wrote itself names no texts."""
    texts = ShownTexts(folder)
    labels = [(label, label.texts, texts.of(label)) for label in _of_kept_questions(folder, tiered) if label.texts]
    if edited := [(label, before, now) for label, before, now in labels if before != now]:
        raise DataError(
            f"{folder.path(Tiered)}: found {len(edited):,} labels that are about other texts than the files have now: {_named(edited)}. Put them "
            f"back; or remove these lines; or have the pairs voted on: {PACKS.line(folder.root)}"
        )


def _recorded(rows: Iterable[PackItem] | Iterable[Vote]) -> dict[str, list[Digests]]:
    """Pair -> what packs or votes say of its texts, the newest last."""
    texts: dict[str, list[Digests]] = defaultdict(list)
    for row in rows:
        texts[row.pair_id].append(row.texts)
    return texts


def _of_kept_questions(folder: Folder, pairs: Iterable[P]) -> list[P]:
    """The pairs whose question and person were not dropped."""
    users = {person.user_id for person in kept(folder.read(Person))}
    dropped = {row.id for row in folder.read(Question) if row.keep == "no" or row.user_id not in users}
    return [pair for pair in pairs if pair.question_id not in dropped]


def _named(edited: Sequence[tuple[Pair | Tiered, Digests, Digests]]) -> str:
    """The texts that were edited, each with the number of its pairs.

    Args:
        edited: (pair, the digests of its texts as they were shown, as they are now).
    """
    counts: Counter[str] = Counter()
    for pair, before, now in edited:
        name = pair.id if isinstance(pair, Pair) else pair.pair_id
        texts = (
            f"the persona of {short(pair.user_id)}",
            f"the question {short(pair.question_id)}",
            *(f"the answer {short(answer)} of pair {name}" for answer in sorted(_answer_ids(pair))),
        )
        if not before:
            counts["(nothing recorded what was shown)"] += 1
        counts.update(text for text, old, new in zip(texts, before, now, strict=False) if old != new)
    named = [f"{text}{f' ({count:,} pairs)' if count > 1 else ''}" for text, count in counts.most_common(NAMED)]
    return ", ".join([*named, *([f"and {len(counts) - NAMED:,} more"] if len(counts) > NAMED else [])])
