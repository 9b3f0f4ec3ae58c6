"""Files of annotators -> votes. Files may come one by one, in parts, and again: the votes are the same as of all at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ..common.errors import DataError
from ..common.records import short, short_list
from ..common.row_files import RowFolder
from .assignment import Asked, is_swapped
from .items import Item, read_answer, read_marks
from .rows import PackItem, Vote
from .vote_files import SentVote, read_votes


class Merged(NamedTuple):
    """All votes; counts of new and of repeated ones; and a line on each vote that replaces another."""

    votes: list[Vote]
    new: int
    again: int
    replaced: Sequence[str]


def merged(folder: RowFolder, asked: Asked, paths: Iterable[Path]) -> Merged:
    """Existing votes and those of files. Of two votes by one person on one item the later counts: by time, else by the order of files and lines.

    Raises:
        DataError: a file is broken, a pack has votes with logins and without, or a vote fits no item. Nothing is written.
    """
    places = {place.item: place for place in folder.read(PackItem)}
    before = folder.read(Vote)
    votes = {_key(vote): (vote, str(folder.path(Vote))) for vote in before}
    names = _Names(before, str(folder.path(Vote)))
    again, replaced = 0, list[str]()
    for path in paths:
        sent_votes = read_votes(path)
        if not sent_votes:
            raise DataError(
                f"{path}: found no vote in it, expected an answer in some rows. Ask the annotator for the file that was filled in."
            )
        for sent in sent_votes:
            if sent.item not in places:
                raise DataError(
                    f"{sent.where}: found the item {short(sent.item)}, expected one of {folder.path(PackItem)}, such as {short_list(list(places)[:3])}. "
                    "Import it into the folder whose packs were sent out, and let no spreadsheet change the column item."
                )
            place = places[sent.item]
            vote = _vote(asked.now(place), place, sent, names.of(place.annotator, sent))
            known, where = votes.setdefault(_key(vote), (vote, sent.where))
            is_later = not (known.at and vote.at) or vote.at > known.at
            if known.chosen == vote.chosen:
                again += known is not vote
                if is_later:  # people add to a note, and mark faults
                    faults = known.faults if vote.faults is None else vote.faults
                    votes[_key(vote)] = replace(known, note=vote.note or known.note, faults=faults), where
                continue
            first, then, last = (known, where, vote) if is_later else (vote, sent.where, known)
            replaced.append(
                f"{vote.annotator} voted {last.shown_as} on {sent.item} after {first.shown_as} in {then}: {last.shown_as} counts"
            )
            if is_later:
                votes[_key(vote)] = vote, sent.where
    return Merged([vote for vote, _ in votes.values()], len(votes) - len(before), again, replaced)


def _vote(item: Item | None, place: PackItem, sent: SentVote, annotator: str) -> Vote:
    # Two options that were removed are still known by their ids.
    if item is None and not place.left:
        raise DataError(
            f"{sent.where}: found the item {place.item}, which is about {place.pair_id}, expected one that is still asked. Put its row back."
        )
    item = item or Item(id=place.pair_id, texts={}, options=dict.fromkeys(place.options, ""))
    answer = read_answer(sent.where, sent.answer, item.labels, item.several)
    if answer in item.noted and not sent.note.strip():
        raise DataError(
            f"{sent.where}: found the vote {short(sent.answer)} without a note, expected one that says what. Ask the annotator, or leave out this vote."
        )
    swapped, marks = is_swapped(item, place), read_marks(sent.where, sent.faults or "", len(item.options))
    were_asked = bool(marks) or (item.faults and sent.faults is not None)
    return Vote(
        annotator=annotator, pair_id=place.pair_id, chosen=item.meant(answer, swapped), shown_as=answer, texts=place.texts, note=sent.note,
        seconds=sent.seconds, at=sent.at, consent=sent.consent, faults=item.faulted(marks, swapped) if were_asked else None,
    )  # fmt: skip


class _Names:
    """Who votes: the annotator of a pack or, where a tool has logins, each person who has it."""

    def __init__(self, before: Iterable[Vote], place: str):
        self._of_pack: dict[str, dict[bool, tuple[str, str]]] = defaultdict(dict)
        for vote in before:
            pack, colon, _ = vote.annotator.partition(":")
            self._of_pack[pack].setdefault(bool(colon), (vote.annotator, place))

    def of(self, pack: str, sent: SentVote) -> str:
        # Votes with a login and without one may be one person twice.
        name = f"{pack}:{sent.login}" if sent.login else pack
        names = self._of_pack[pack]
        names.setdefault(bool(sent.login), (name, sent.where))
        if len(names) > 1:
            other, place = names[not sent.login]
            raise DataError(
                f"{sent.where}: found votes of {name} on the pack of {pack}, which has votes of {other} in {place}, expected all of them with a "
                "login or none. If it is one person, write the same name into the column annotator, or leave it out."
            )
        return name


def _key(vote: Vote) -> tuple[object, ...]:
    return vote.annotator, vote.pair_id, vote.texts
