"""Pairs -> what each annotator sees: one person's pairs after another, in an order and with sides of their own, and attention items in between.

A pack only grows. What an annotator was given once keeps its item, its sides and its place, so that votes that are still out find
their pair, whatever was added since. A pair whose texts were edited is a new item: votes on the old one are about the old texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...annotation.items import LETTERS
from ...common.errors import DataError
from ...engine.cases import digest_of
from ..folder import Folder
from ..rows import MASKED, Answer, Dropped, Origin, PackItem, Pair, Person, Question
from ..texts.briefs import Briefs
from .sharing import drawn, shared_out
from .shown_texts import ShownTexts

ATTENTION = "attention:"
"""What the pair_id of an attention item begins with; the pair that it was made of follows."""

EVERY = 20
"""One attention item for so many pairs, and two at least."""


def names(count: int) -> list[str]:
    """The annotators of a build: `annotator-1` and so on."""
    return [f"annotator-{number}" for number in range(1, count + 1)]


def grown(folder: Folder, annotators: Sequence[str]) -> list[PackItem]:
    """All packs: existing items, then new ones at the ends.

    Args:
        annotators: who gets a pack; others keep theirs as they are. Who was dropped gets nothing more, and others get their pairs.

    Raises:
        DataError: see `asked`.
    """
    pairs, given, settings = asked(folder), folder.read(PackItem), folder.settings
    texts, dropped = ShownTexts(folder), folder.by_id(Dropped)
    now = {pair.id: texts.of(pair) for pair in pairs}
    has: dict[str, set[str]] = defaultdict(set)
    for item in given:
        if item.annotator not in dropped and now.get(item.pair_id) == item.texts:
            has[item.pair_id].add(item.annotator)
    able = [name for name in annotators if name not in dropped]
    gets = shared_out(pairs, has, able, settings.votes, settings.seed)
    attention, beside = _Attention(folder, pairs), _beside(folder, pairs)
    items = list(given)
    for annotator in able:
        own = [pair for pair in pairs if annotator in has[pair.id]]
        new = [
            *gets[annotator],
            *attention.more(own, gets[annotator], [item for item in given if item.annotator == annotator], texts),
        ]
        items += _in_own_order(new, texts, beside, annotator, settings.seed)
    return items


def _beside(folder: Folder, pairs: Sequence[Pair]) -> dict[str, str]:
    """Pair that is built to be easy -> the masked answer that is shown beside it, by the writer of the full one if there are several.

    None unless build.yaml says that an Easy item has three options, or where a question has no masked answer.
    """
    if folder.settings.easy_options < 3:
        return {}
    masked: dict[str, list[Answer]] = defaultdict(list)
    answers = folder.by_id(Answer)
    for answer in answers.values():
        if answer.strategy == MASKED:
            masked[answer.question_id].append(answer)
    found = {}
    for pair in pairs:
        if pair.easy and masked[pair.question_id]:
            writer = answers[pair.easy].model
            found[pair.id] = min(masked[pair.question_id], key=lambda answer: (answer.model != writer, answer.id)).id
    return found


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


def _in_own_order(
    pairs: Sequence[Pair], texts: ShownTexts, beside: Mapping[str, str], annotator: str, seed: int
) -> Iterator[PackItem]:
    """Persons in a drawn order, and the pairs of each in one."""

    def order(pair: Pair) -> tuple[float, str, float]:
        return drawn(seed, "person", annotator, pair.user_id), pair.user_id, drawn(seed, "order", annotator, pair.id)

    for pair in sorted(pairs, key=order):
        swapped = drawn(seed, "side", annotator, pair.id) < 0.5
        left, right = (pair.second, pair.first) if swapped else (pair.first, pair.second)
        shown = texts.of(pair)
        digest = digest_of((str(seed), annotator, pair.id, *shown))
        yield PackItem(
            annotator=annotator,
            item=f"i{digest}",  # a letter first: a spreadsheet would round 694336221e70
            pair_id=pair.id,
            left=left,
            right=right,
            beside=beside.get(pair.id, ""),
            beside_as=LETTERS[int(drawn(seed, "beside", annotator, pair.id) * 3)] if pair.id in beside else "",
            attention=pair.first if pair.id.startswith(ATTENTION) else "",
            texts=shown,
        )


class _Attention:
    """Attention items: an answer to the question beside one to another question, of another person. Whoever reads takes the first.

    There are none where all pairs are of one person.
    """

    def __init__(self, folder: Folder, pairs: Sequence[Pair]):
        self._pairs, self._seed = pairs, folder.settings.seed
        self._questions = {question.id: question.question for question in folder.questions()}
        self._answers = folder.by_id(Answer)
        self._made: dict[str, Pair | None] = {}

    def more(
        self, own: Sequence[Pair], new: Sequence[Pair], given: Sequence[PackItem], texts: ShownTexts
    ) -> list[Pair]:
        """Those that an annotator lacks.

        Args:
            own: the pairs that they have already; new: those that they get now.
            given: all items of theirs. An attention item whose texts were edited does not count.
        """
        known = {item.pair_id for item in given if item.attention and item.texts == texts.of(self._pair(item))}
        total = len(own) + len(new)
        lacking = max(2, total // EVERY) - len(known) if total else 0
        items: list[Pair] = []
        for pairs in (new, own):  # those of persons who are judged for now come first
            for pair in sorted(pairs, key=lambda pair: drawn(self._seed, "attention", pair.id)):
                if len(items) < lacking and f"{ATTENTION}{pair.id}" not in known and (made := self._of(pair)):
                    items.append(made)
        return items

    def _pair(self, item: PackItem) -> Pair:
        """An attention item as the pair that it was made as."""
        (wrong,) = {item.left, item.right} - {item.attention}
        asked = self._answers.get(item.attention)
        question, user = (asked.question_id, asked.user_id) if asked else ("", "")
        return Pair(id=item.pair_id, question_id=question, user_id=user, first=item.attention, second=wrong)

    def _of(self, pair: Pair) -> Pair | None:
        if pair.id not in self._made:
            others = [
                other
                for other in self._pairs
                if other.user_id != pair.user_id
                and self._questions[other.question_id] != self._questions[pair.question_id]
            ]
            wrong = min(others, key=lambda other: drawn(self._seed, "elsewhere", pair.id, other.id), default=None)
            self._made[pair.id] = wrong and replace(
                pair, id=f"{ATTENTION}{pair.id}", first=pair.easy or pair.first, second=wrong.first, easy=""
            )
        return self._made[pair.id]
