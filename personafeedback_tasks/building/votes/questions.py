"""Packs of questions that are about no pair, and the answers that come back: what annotators do is the same, and what they are shown differs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from ...annotation.items import CANNOT, NONE, Guideline, Item, Pack, read_answer
from ...annotation.pack_files import SENT
from ...annotation.questions import SIDES, ItemQuestion, is_attentive
from ...annotation.rows import Digests, Dropped, PackItem, Vote
from ...annotation.vote_files import SentVote
from ...common.errors import DataError
from ...common.records import short
from ..folder import Folder
from ..steps import Say
from .annotators import annotators
from .collected import merged_as, vote_for
from .growing import ATTENTION, Block, Packing, item_id, names
from .pack_files import FOLDER, consent_of, send
from .sharing import OfUser, drawn
from .taking import pack_of, say_annotators, votes_there, write_merged


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Everything that annotators of a folder are asked.

    Attributes:
        questions: those of a block one after another.
        attention: (a question, a seed) -> the same as an attention item, see `ItemQuestion.expected`; None if none can be made.
        guidelines: kind -> its guideline.
    """

    questions: Sequence[ItemQuestion]
    attention: Callable[[ItemQuestion, int], ItemQuestion | None]
    guidelines: Mapping[str, Guideline]


class _Packing(Packing[ItemQuestion]):
    def __init__(self, folder: Folder, asking: Asking):
        self.seed, self.votes = folder.settings.seed, folder.settings.votes
        self.asking, self.by_id = asking, {question.id: question for question in asking.questions}

    def texts(self, thing: ItemQuestion) -> Digests:
        return (thing.digest,)

    def attention(self, thing: ItemQuestion) -> ItemQuestion | None:
        made = self.asking.attention(thing, self.seed)
        return made and replace(made, id=f"{ATTENTION}{thing.id}", block=f"{ATTENTION}{thing.id}")

    def of_item(self, item: PackItem) -> ItemQuestion | None:
        thing = self.by_id.get(item.pair_id.removeprefix(ATTENTION))
        return thing if thing is None or not item.pair_id.startswith(ATTENTION) else self.attention(thing)

    def item(self, thing: ItemQuestion, annotator: str) -> PackItem:
        swapped = bool(thing.options) and drawn(self.seed, "side", annotator, thing.id) < 0.5
        left, right = reversed(SIDES) if swapped else SIDES if thing.options else ("", "")
        return PackItem(
            annotator=annotator, item=item_id(self.seed, annotator, thing.id, self.texts(thing)), pair_id=thing.id, left=left, right=right,
            attention=" | ".join(thing.expected), texts=self.texts(thing),
        )  # fmt: skip

    def shown(self, item: PackItem) -> Item | None:
        """What its annotator sees, a list in an order of their own; None if it was asked with other texts."""
        thing = self.of_item(item)
        if thing is None or self.texts(thing) != item.texts:
            return None
        order = list(thing.answers)
        if thing.several:
            order.sort(key=lambda answer: drawn(self.seed, "answer", item.annotator, thing.id, answer))
        return thing.item(item.item, _is_swapped(item), order)

    def kind(self, item: PackItem) -> str:
        """That of its question; empty if there is none any more."""
        thing = self.by_id.get(item.pair_id.removeprefix(ATTENTION))
        return thing.kind if thing else ""


def _is_swapped(item: PackItem) -> bool:
    return item.left == SIDES[1]


def write_questions(folder: Folder, asking: Asking, form: str, say: Say) -> None:
    """Write what each annotator gets: a pack for each kind of question, in a folder of its name.

    Raises:
        DataError: a file of the folder is broken.
    """
    packing = _Packing(folder, asking)
    with folder.locked():
        given, dropped = folder.read(PackItem), folder.by_id(Dropped).keys()
        items = list(given)
        for kind in dict.fromkeys(question.kind for question in asking.questions):
            of_kind = groupby(
                (one for one in asking.questions if one.kind == kind), key=lambda question: question.block
            )
            before = [item for item in given if packing.kind(item) == kind]
            every = names(folder.settings.annotators)
            items += packing.grown([Block(of_block) for _, of_block in of_kind], before, every, dropped)[len(before) :]
        packs = _packs(folder, packing, items)
        send(folder, items, packs, form, packing.by_id, "questions", say)
    if without := sorted({pack.folder for pack in packs} - {packing.kind(item) for item in items if item.attention}):
        say(f"There are no attention items of {', '.join(without)}: they need a second user.")
    say(f"Send each annotator {SENT[form]}, from each folder of {folder.root / FOLDER}, and nothing else.")


def _packs(folder: Folder, packing: _Packing, items: Sequence[PackItem]) -> list[Pack]:
    shown: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        if found := packing.shown(item):
            shown[packing.kind(item), item.annotator].append(found)
    title, consent = folder.settings.name, consent_of(folder)
    return [
        Pack(
            annotator=f"{annotator}.{kind}", items=of_pack, guideline=packing.asking.guidelines[kind], title=title, consent=consent,
            folder=kind,
        )
        for (kind, annotator), of_pack in sorted(shown.items())
    ]  # fmt: skip


def take_answers(
    folder: Folder, asking: Asking, files: Sequence[Path], drop: Sequence[str], again: str, say: Say
) -> list[tuple[ItemQuestion, Vote]]:  # fmt: skip
    """Take in what annotators sent, and say who has answered how.

    Args:
        drop: annotators whose answers count no longer.
        again: the command that does this.

    Returns:
        Every answer that counts, with its question: of annotators who were not dropped, on questions as they are now, for an order of the
        options that is the question's own.

    Raises:
        DataError: see `collected.merged`.
    """
    packing = _Packing(folder, asking)

    def vote(item: PackItem, sent: SentVote, annotator: str) -> Vote:
        thing = packing.of_item(item)
        if thing is None:
            raise DataError(
                f"{sent.where}: found the item {item.item}, which is about {item.pair_id}, expected one of the questions of {folder.root}. Put its row back."
            )
        answer = read_answer(sent.where, sent.answer, thing.answers, thing.several)
        if answer in thing.noted and not sent.note.strip():
            raise DataError(
                f"{sent.where}: found the vote {short(sent.answer)} without a note, expected one that says what. Ask the annotator, or leave out this vote."
            )
        return vote_for(thing.meant(answer, _is_swapped(item)), answer, item, sent, annotator)

    with folder.locked():
        if files:
            write_merged(folder, merged_as(folder, files, vote), say)
        votes = votes_there(folder, drop)
    dropped = folder.by_id(Dropped)
    counted = [
        (packing.by_id[vote.pair_id], vote) for vote in votes
        if vote.pair_id in packing.by_id and vote.annotator not in dropped and vote.chosen != CANNOT
        and vote.texts == packing.texts(packing.by_id[vote.pair_id])
    ]  # fmt: skip
    single, about = _single(counted)
    pack = pack_of(folder, votes)
    found = annotators(list(pack), pack, folder.read(PackItem), votes, single, about, is_attentive)
    say_annotators(folder, found, again, say)
    per = Counter(Counter(vote.pair_id for _, vote in counted)[name] for name in packing.by_id)
    say(f"votes to a question: {', '.join(f'{of:,} have {count}' for count, of in sorted(per.items(), reverse=True))}")
    return counted


def _single(answers: Sequence[tuple[ItemQuestion, Vote]]) -> tuple[list[Vote], dict[str, OfUser]]:
    """(the answers, those to a list as one for each of its lines; what each is about), to compare annotators by."""
    votes, about = [], dict[str, OfUser]()
    for question, vote in answers:
        parts = [(vote.pair_id, vote.chosen)]
        if question.several:
            ticked = set(vote.chosen.split()) - {NONE}
            parts = [(f"{vote.pair_id}#{answer}", str(answer in ticked)) for answer in question.answers]
        for name, chosen in parts:
            about[name] = question
            votes.append(replace(vote, pair_id=name, chosen=chosen))
    return votes, about
