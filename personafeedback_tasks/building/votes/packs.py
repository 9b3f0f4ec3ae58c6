"""Pairs -> what each annotator sees: an order and sides of their own, and attention items in between.

A pack only grows. What an annotator was given once keeps its item, its sides and its place, so that votes that are still out find
their pair, whatever was added since. A pair whose texts were edited is a new item: votes on the old one are about the old texts.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...common.errors import DataError
from ...engine.cases import digest_of
from ..folder import Folder
from ..rows import Answer, Digests, Origin, PackItem, Pair, Person, Question
from ..texts.briefs import Briefs
from .shown_texts import ShownTexts

ATTENTION = "attention:"
"""What the pair_id of an attention item begins with; the pair that it was made of follows."""

EVERY = 20
"""One attention item for so many pairs, and two at least."""


def names(count: int) -> list[str]:
    """The annotators of a build: `annotator-1` and so on."""
    return [f"annotator-{number}" for number in range(1, count + 1)]


def grown(folder: Folder, annotators: Iterable[str]) -> list[PackItem]:
    """All packs: existing items, then new ones at the ends.

    Args:
        annotators: who gets a pack; others keep theirs as they are.

    Raises:
        DataError: see `asked`.
    """
    pairs, given, seed = asked(folder), folder.read(PackItem), folder.settings.seed
    wanted = [*pairs, *_attention(pairs, {one.id: one.question for one in folder.questions()}, seed)]
    texts = ShownTexts(folder)
    now = {pair.id: texts.of(pair) for pair in wanted}
    items = list(given)
    for annotator in annotators:
        has = {(item.pair_id, item.texts) for item in given if item.annotator == annotator}
        missing = [pair for pair in wanted if (pair.id, now[pair.id]) not in has]
        items += _in_own_order(missing, now, annotator, seed)
    return items


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
        Briefs(folder).refuse_edited(folder.questions(), folder.read(Answer), folder.by_id(Origin))
        return left
    raise DataError(
        f"{folder.path(Pair)}: found no pair whose question and person are kept, expected some. Look at the column keep of "
        f"{folder.path(Question)} and {folder.path(Person)}."
    )


def _in_own_order(pairs: Sequence[Pair], texts: Mapping[str, Digests], annotator: str, seed: int) -> Iterator[PackItem]:
    for pair in sorted(pairs, key=lambda pair: _drawn(seed, "order", annotator, pair.id)):
        swapped = _drawn(seed, "side", annotator, pair.id) < 0.5
        left, right = (pair.second, pair.first) if swapped else (pair.first, pair.second)
        digest = digest_of((str(seed), annotator, pair.id, *texts[pair.id]))
        yield PackItem(
            annotator=annotator,
            item=f"i{digest}",  # a letter first: a spreadsheet would round 694336221e70
            pair_id=pair.id,
            left=left,
            right=right,
            attention=pair.first if pair.id.startswith(ATTENTION) else "",
            texts=texts[pair.id],
        )


def _attention(pairs: Sequence[Pair], questions: Mapping[str, str], seed: int) -> list[Pair]:
    """An answer to the question beside one to another question, of another person: whoever reads takes the first.

    The same ones for all annotators of as many pairs. None where all pairs are of one person.
    """
    count = max(2, len(pairs) // EVERY)
    items: list[Pair] = []
    for pair in sorted(pairs, key=lambda pair: _drawn(seed, "attention", pair.id)):
        others = [
            other
            for other in pairs
            if other.user_id != pair.user_id and questions[other.question_id] != questions[pair.question_id]
        ]
        if not others or len(items) == count:
            break
        wrong = min(others, key=lambda other: _drawn(seed, "elsewhere", pair.id, other.id))
        items.append(
            replace(pair, id=f"{ATTENTION}{pair.id}", first=pair.easy or pair.first, second=wrong.first, easy="")
        )
    return items


def _drawn(seed: int, *what: str) -> float:
    return random.Random(":".join((str(seed), *what))).random()
