"""Files of annotators -> votes.jsonl, and which votes count. Files may come one by one, in parts, and again: the votes are the same as of
all at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ...annotation.items import CANNOT, LETTERS, read_answer
from ...annotation.rows import Dropped, PackItem, Vote
from ...annotation.vote_files import SentVote, read_votes
from ...common.errors import DataError
from ...common.records import short, short_list
from ..folder import Folder
from ..rows import Pair
from .growing import ATTENTION
from .shown_texts import ShownTexts, refuse_edited_votes


class Merged(NamedTuple):
    """All votes; how many are new; how many were there before, or are in a file twice; and a line on each that replaces another one."""

    votes: list[Vote]
    new: int
    again: int
    replaced: Sequence[str]


def merged(folder: Folder, paths: Iterable[Path]) -> Merged:
    """The votes that were there, and those of files. Of two votes by one person on one item the later one counts: by their times or, without
    times, by the order of files and lines.

    Raises:
        DataError: a file is broken, an item is of no pack, a pack has votes with logins and without, or see `refuse_edited_votes`. Nothing is
            written.
    """
    folder.need(PackItem)
    refuse_edited_votes(folder)
    return merged_as(folder, paths, _vote)


VoteOf = Callable[[PackItem, SentVote, str], Vote]
"""(item, what was sent about it, annotator) -> the vote. Raises DataError if the item has no such answer."""


def merged_as(folder: Folder, paths: Iterable[Path], vote_of: VoteOf) -> Merged:
    """`merged`, of items of any kind."""
    items = {item.item: item for item in folder.need(PackItem)}
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
            if sent.item not in items:
                raise DataError(
                    f"{sent.where}: found the item {short(sent.item)}, expected one of {folder.path(PackItem)}, such as {short_list(list(items)[:3])}. "
                    "Import it into the build whose packs were sent out, and let no spreadsheet change the column item."
                )
            item = items[sent.item]
            vote = vote_of(item, sent, names.of(item.annotator, sent))
            known, place = votes.setdefault(_key(vote), (vote, sent.where))
            is_later = not (known.at and vote.at) or vote.at > known.at
            if known.chosen == vote.chosen:
                again += known is not vote
                if vote.note and is_later:  # people add to a note
                    votes[_key(vote)] = replace(known, note=vote.note), place
                continue
            first, then, last = (known, place, vote) if is_later else (vote, sent.where, known)
            replaced.append(
                f"{vote.annotator} voted {last.shown_as} on {sent.item} after {first.shown_as} in {then}: {last.shown_as} counts"
            )
            if is_later:
                votes[_key(vote)] = vote, sent.where
    return Merged([vote for vote, _ in votes.values()], len(votes) - len(before), again, replaced)


class _Names:
    """Who votes: the annotator of a pack or, where a tool has logins, each person who has it."""

    def __init__(self, before: Iterable[Vote], place: str):
        self._of_pack: dict[str, dict[bool, tuple[str, str]]] = defaultdict(dict)
        for vote in before:
            pack, colon, _ = vote.annotator.partition(":")
            self._of_pack[pack].setdefault(bool(colon), (vote.annotator, place))

    def of(self, pack: str, sent: SentVote) -> str:
        """Whose vote it is. Raises DataError if a pack has votes with a login and without one: this may be one person twice."""
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


def _vote(item: PackItem, sent: SentVote, annotator: str) -> Vote:
    letter = read_answer(sent.where, sent.answer, LETTERS[: len(item.options)])
    return vote_for(CANNOT if letter == CANNOT else item.options[LETTERS.index(letter)], letter, item, sent, annotator)


def vote_for(chosen: str, shown_as: str, item: PackItem, sent: SentVote, annotator: str) -> Vote:
    """A vote on an item.

    Args:
        chosen, shown_as: see Vote.
    """
    return Vote(
        annotator=annotator, pair_id=item.pair_id, chosen=chosen, shown_as=shown_as, texts=item.texts, note=sent.note,
        seconds=sent.seconds, at=sent.at, consent=sent.consent,
    )  # fmt: skip


def counted(folder: Folder) -> list[Vote]:
    """The votes that make labels: on pairs of the set as they are now, of annotators who were not dropped.

    A vote on a pair that was in a pack, and that somebody has since taken out of pairs.jsonl, does not count; nor does one on texts that
    were edited since. Who could not judge a pair has no vote on it.

    Raises:
        DataError: a vote names a pair that there never was, or an answer that is not in its pair, or see `refuse_edited_votes`.
    """
    refuse_edited_votes(folder)
    texts, pairs, dropped = ShownTexts(folder), folder.by_id(Pair), folder.by_id(Dropped)
    given = {item.pair_id for item in folder.read(PackItem)}
    votes = []
    for number, vote in enumerate(folder.read(Vote), start=1):
        where, pair = f"{folder.path(Vote)}, line {number}", pairs.get(vote.pair_id)
        if vote.chosen == CANNOT or vote.pair_id.startswith(ATTENTION) or (pair is None and vote.pair_id in given):
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
        if vote.annotator not in dropped and vote.texts == texts.of(pair):
            votes.append(vote)
    return votes


def outdated(folder: Folder) -> int:
    """How many votes are on texts that their pair no longer has."""
    texts = ShownTexts(folder)
    now = {pair.id: texts.of(pair) for pair in folder.read(Pair)}
    return sum(vote.pair_id in now and vote.texts != now[vote.pair_id] for vote in folder.read(Vote))
