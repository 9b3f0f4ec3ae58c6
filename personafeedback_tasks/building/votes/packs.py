"""Pairs -> what each annotator sees: one person's pairs after another, in an order and with sides of their own, and attention items in between.

A pair whose texts were edited is a new item: votes on the old one are about the old texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...annotation.rows import Digests, Dropped, PackItem
from ...common.errors import DataError
from ..basis import Bases
from ..folder import Folder
from ..rows import Answer, Origin, Pair, Person, Question
from .growing import ATTENTION, Block, Packing, item_id
from .sharing import drawn
from .shown_texts import ShownTexts


def grown(folder: Folder, annotators: Sequence[str]) -> list[PackItem]:
    """All packs, see `Packing.grown`.

    Raises:
        DataError: see `asked`.
    """
    pairs = asked(folder)
    blocks = [Block((pair,)) for pair in pairs]
    return _Pairs(folder, pairs).grown(blocks, folder.read(PackItem), annotators, folder.by_id(Dropped).keys())


def asked(folder: Folder) -> list[Pair]:
    """The pairs that people are asked about: those whose question and person were kept.

    Raises:
        DataError: there are none, the question or an answer of one is missing, or what the writers were told was edited since.
    """
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


class _Pairs(Packing[Pair]):
    """How pairs are packed. An attention item is an answer to the question beside one to another question, of another person; whoever
    reads takes the first. There are none where all pairs are of one person."""

    def __init__(self, folder: Folder, pairs: Sequence[Pair]):
        self.seed, self.votes = folder.settings.seed, folder.settings.votes
        self._pairs, self._texts = pairs, ShownTexts(folder)
        self._questions = {question.id: question.question for question in folder.questions()}
        self._answers = folder.by_id(Answer)
        self._made: dict[str, Pair | None] = {}

    def texts(self, thing: Pair) -> Digests:
        return self._texts.of(thing)

    def item(self, thing: Pair, annotator: str) -> PackItem:
        swapped = drawn(self.seed, "side", annotator, thing.id) < 0.5
        left, right = (thing.second, thing.first) if swapped else (thing.first, thing.second)
        shown = self.texts(thing)
        return PackItem(
            annotator=annotator,
            item=item_id(self.seed, annotator, thing.id, shown),
            pair_id=thing.id,
            left=left,
            right=right,
            attention=thing.first if thing.id.startswith(ATTENTION) else "",
            texts=shown,
        )

    def of_item(self, item: PackItem) -> Pair:
        (wrong,) = {item.left, item.right} - {item.attention}
        asked = self._answers.get(item.attention)
        question, user = (asked.question_id, asked.user_id) if asked else ("", "")
        return Pair(id=item.pair_id, question_id=question, user_id=user, first=item.attention, second=wrong)

    def attention(self, thing: Pair) -> Pair | None:
        if thing.id not in self._made:
            others = [
                other
                for other in self._pairs
                if other.user_id != thing.user_id
                and self._questions[other.question_id] != self._questions[thing.question_id]
            ]
            wrong = min(others, key=lambda other: drawn(self.seed, "elsewhere", thing.id, other.id), default=None)
            self._made[thing.id] = wrong and replace(
                thing, id=f"{ATTENTION}{thing.id}", first=thing.easy or thing.first, second=wrong.first, easy=""
            )
        return self._made[thing.id]
