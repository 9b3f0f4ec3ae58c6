"""Files of annotators -> votes.jsonl, and which votes count. Files may come one by one, in parts, and again: the votes are the same as of
all at once."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ...annotation.items import CANNOT, LETTERS, read_answer
from ...annotation.vote_files import SentVote, read_votes
from ...common.errors import DataError, OptionError
from ...common.records import short, short_list
from ..folder import Folder
from ..rows import Dropped, PackItem, Pair, Vote
from .growing import ATTENTION
from .shown_texts import ShownTexts, refuse_edited_votes


@dataclass(frozen=True, kw_only=True)
class Corrections:
    """What a team says about votes that contradict each other.

    Attributes:
        replace: a later vote by the same person on the same item counts, not the earlier one.
        same: another name of an annotator -> the name that counts.
        shared: annotators whose pack several people have, each with a login.
    """

    replace: bool = False
    same: Mapping[str, str] = field(default_factory=dict)
    shared: Collection[str] = ()


AS_SENT = Corrections()
"""None."""


class Merged(NamedTuple):
    """All votes; how many are new; how many were there before, or are in a file twice; and how many replace another one."""

    votes: list[Vote]
    new: int
    again: int
    replaced: int


def merged(folder: Folder, paths: Iterable[Path], corrections: Corrections = AS_SENT) -> Merged:
    """The votes that were there, and those of files.

    Raises:
        DataError: a file is broken, an item is of no pack, an annotator has voted differently on the same item (all of these are listed), a
            second name votes on one person's pack, or see `refuse_edited_votes`. Nothing is written.
        OptionError: a name of `corrections.same` has no vote.
    """
    folder.need(PackItem)
    refuse_edited_votes(folder)
    return merged_as(folder, paths, _vote, corrections)


VoteOf = Callable[[PackItem, SentVote, str], Vote]
"""(item, what was sent about it, annotator) -> the vote. Raises DataError if the item has no such answer."""


def merged_as(folder: Folder, paths: Iterable[Path], vote_of: VoteOf, corrections: Corrections = AS_SENT) -> Merged:
    """`merged`, of items of any kind."""
    items = {item.item: item for item in folder.need(PackItem)}
    before = folder.read(Vote)
    votes = {_key(vote): (vote, str(folder.path(Vote))) for vote in before}
    names = _Names(before, str(folder.path(Vote)), corrections)
    again, conflicts = 0, list[str]()
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
            conflicts.append(
                f"{sent.where}: {vote.annotator} voted {vote.shown_as} on {sent.item}, but {known.shown_as} in {place}"
            )
            if is_later:
                votes[_key(vote)] = vote, sent.where
    if conflicts and not corrections.replace:
        raise DataError(
            "\n".join(conflicts)
            + f"\nFound {len(conflicts):,} votes that differ from another one by the same person on the same item, expected one. Ask "
            "which one counts and remove the other one; or pass --replace: the later one counts."
        )
    names.refuse_unknown()
    return Merged([vote for vote, _ in votes.values()], len(votes) - len(before), again, len(conflicts))


class _Names:
    """Who votes: one name for each pack, unless the team says that several people have it."""

    def __init__(self, before: Iterable[Vote], place: str, corrections: Corrections):
        self._same, self._shared, self._used = corrections.same, corrections.shared, set[str]()
        self._of_pack: dict[str, dict[str, str]] = defaultdict(dict)  # pack -> name -> where it was met first
        for vote in before:
            self._of_pack[vote.annotator.partition(":")[0]][vote.annotator] = place
        self._known_to_share = {pack for pack, names in self._of_pack.items() if len(names) > 1}

    def of(self, pack: str, sent: SentVote) -> str:
        """Whose vote it is. Raises DataError if it is a second name's."""
        written = f"{pack}:{sent.login}" if sent.login else pack
        name = self._same.get(written, written)
        self._used.add(written)
        names = self._of_pack[pack]
        if names and name not in names and pack not in self._shared and pack not in self._known_to_share:
            other, place = next(iter(names.items()))
            raise DataError(
                f"{sent.where}: found votes of {name} on the pack of {pack}, which has votes of {other} in {place}, expected one name for one person. If "
                f"it is one person, pass --same {shlex.quote(f'{name}={other}')}; if several people have this pack, --shared {shlex.quote(pack)}."
            )
        names.setdefault(name, sent.where)
        return name

    def refuse_unknown(self) -> None:
        for name in self._same:
            if name not in self._used:
                raise OptionError(
                    f"--same {name}=...: these files have no vote of {short(name)}, only of {short_list(sorted(self._used))}."
                )


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
    were edited since. Who could not judge a pair has no vote on it, nor who took the third answer that was beside it.

    Raises:
        DataError: a vote names a pair that there never was, or an answer that is not in its pair, or see `refuse_edited_votes`.
    """
    refuse_edited_votes(folder)
    texts, pairs, dropped = ShownTexts(folder), folder.by_id(Pair), folder.by_id(Dropped)
    items = folder.read(PackItem)
    given, beside = {item.pair_id for item in items}, {(item.pair_id, item.beside) for item in items}
    votes = []
    for number, vote in enumerate(folder.read(Vote), start=1):
        where, pair = f"{folder.path(Vote)}, line {number}", pairs.get(vote.pair_id)
        if vote.chosen == CANNOT or vote.pair_id.startswith(ATTENTION) or (pair is None and vote.pair_id in given):
            continue
        if pair is None:
            raise DataError(
                f"{where}: found a vote on the pair {short(vote.pair_id)}, expected one of {folder.path(Pair)}. Put the pair back, or remove the vote."
            )
        if (pair.id, vote.chosen) in beside:
            continue
        if vote.chosen not in (pair.first, pair.second):
            raise DataError(
                f"{where}: found a vote for {short(vote.chosen)}, expected an answer of the pair {pair.id}. Remove the vote."
            )
        if vote.shown_as not in LETTERS[:3]:
            raise DataError(f"{where}: found shown_as = {short(vote.shown_as)}, expected A, B or C. Remove the vote.")
        if vote.annotator not in dropped and vote.texts == texts.of(pair):
            votes.append(vote)
    return votes


def outdated(folder: Folder) -> int:
    """How many votes are on texts that their pair no longer has."""
    texts = ShownTexts(folder)
    now = {pair.id: texts.of(pair) for pair in folder.read(Pair)}
    return sum(vote.pair_id in now and vote.texts != now[vote.pair_id] for vote in folder.read(Vote))
