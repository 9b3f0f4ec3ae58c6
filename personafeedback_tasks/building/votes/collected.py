"""Files of annotators -> votes.jsonl. Files may come one by one, in parts, and again: the votes are the same as of all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...common.errors import DataError
from ...common.strict_json import short, short_list
from ..folder import Folder
from ..rows import Dropped, Pair, Shown, Vote
from .packs import ATTENTION
from .shown_texts import ShownTexts, refuse_edited_votes
from .vote_files import read_votes

MODEL = "model:"
"""What the name of an annotator begins with that is a model."""

SUSPICIOUS = 12
"""From so many votes on, one letter throughout says something: of an honest annotator, one in 2 ** 11 would do so."""


@dataclass(frozen=True)
class Annotator:
    """What is known of one.

    Attributes:
        name: a person's, or a model's with MODEL before it.
        votes: on pairs of the set; of: how many he was given; 0 for models, who have no pack.
        letters: A and B -> how many of his votes, those on attention items among them.
        failed: attention items that he got wrong; attention: that he answered.
        dropped: whether his votes are left out.
    """

    name: str
    votes: int
    of: int
    letters: Counter[str]
    failed: int
    attention: int
    dropped: bool

    @property
    def doubts(self) -> list[str]:
        """Why somebody should look at his votes."""
        total = self.letters.total()
        found = []
        if self.failed:
            found.append(f"failed {self.failed} of {self.attention} attention items")
        for letter, count in self.letters.items():
            if count == total >= SUSPICIOUS:
                found.append(f"answered {letter} in all {total}")
        return found


def imported(folder: Folder, paths: Iterable[Path]) -> tuple[list[Vote], int, int]:
    """(all votes, how many are new, how many were there before or are in a file twice).

    Raises:
        DataError: a file is broken, an item is of no pack, an annotator has voted for both answers of a pair, or see
            `refuse_edited_votes`. Nothing is written.
    """
    shown = {one.item: one for one in folder.need(Shown, "packs")}
    before = folder.read(Vote)
    refuse_edited_votes(folder)
    found = {_key(vote): (vote, str(folder.path(Vote))) for vote in before}
    new = again = 0
    for path in paths:
        told = read_votes(path)
        if not told:
            raise DataError(
                f"{path}: found no vote in it, expected A or B in some rows. Ask the annotator for the file that was filled in."
            )
        for where, item, letter, login in told:
            if item not in shown:
                raise DataError(
                    f"{where}: found the item {short(item)}, expected one of {folder.path(Shown)}, such as {short_list(list(shown)[:3])}. "
                    "Import it into the build whose packs were sent out, and let no spreadsheet change the column item."
                )
            vote = _vote(shown[item], letter, login)
            known, there = found.get(_key(vote), (None, ""))
            if known is None:
                found[_key(vote)] = vote, where
                new += 1
            elif known == vote:
                again += 1
            else:
                raise DataError(
                    f"{where}: {vote.annotator} voted {letter} on {item}, but {known.shown_as} in {there}. Ask which one counts, and "
                    "remove the other vote."
                )
    return [vote for vote, _ in found.values()], new, again


def _key(vote: Vote) -> tuple[object, ...]:
    return vote.annotator, vote.pair_id, vote.texts


def _vote(one: Shown, letter: str, login: str) -> Vote:
    """Where a tool has logins, several people may have one pack: each is an annotator of his own."""
    chosen = one.left if letter == "A" else one.right
    annotator = f"{one.annotator}:{login}" if login else one.annotator
    return Vote(annotator=annotator, pair_id=one.pair_id, chosen=chosen, shown_as=letter, texts=one.texts)


def annotators(folder: Folder, votes: Sequence[Vote]) -> list[Annotator]:
    """Everybody who has a pack or a vote, people before models. A pack that people with logins share is theirs alone."""
    shown = folder.read(Shown)
    expected = {(one.annotator, one.pair_id): one.attention for one in shown}
    voters = dict.fromkeys(vote.annotator for vote in votes)
    packs = [
        name
        for name in dict.fromkeys(one.annotator for one in shown)
        if all(_pack(who) != name or who == name for who in voters)
    ]
    dropped = {one.annotator for one in folder.read(Dropped)}
    found = []
    for name in sorted({*packs, *voters}, key=lambda one: (one.startswith(MODEL), len(_pack(one)), one)):
        mine = [vote for vote in votes if vote.annotator == name]
        attention = [vote for vote in mine if vote.pair_id.startswith(ATTENTION)]
        found.append(
            Annotator(
                name=name,
                votes=len({vote.pair_id for vote in mine} - {vote.pair_id for vote in attention}),
                of=sum(who == _pack(name) and not wanted for (who, _), wanted in expected.items()),
                letters=Counter(vote.shown_as for vote in mine),
                failed=sum(expected.get((_pack(name), vote.pair_id)) != vote.chosen for vote in attention),
                attention=len(attention),
                dropped=name in dropped,
            )
        )
    return found


def _pack(annotator: str) -> str:
    """Whose pack an annotator had: his own, or that of everybody with a login."""
    return annotator if annotator.startswith(MODEL) else annotator.partition(":")[0]


def with_dropped(folder: Folder, names: Iterable[str], votes: Sequence[Vote]) -> list[Dropped]:
    """Those who were dropped before, and these.

    Raises:
        DataError: one of them has no vote.
    """
    found = {one.annotator: one for one in folder.read(Dropped)}
    known = dict.fromkeys(vote.annotator for vote in votes)
    for name in names:
        if name not in known:
            raise DataError(
                f"--drop {name}: found no vote of {short(name)}, expected one of {short_list(known) or 'nobody'}."
            )
        found[name] = Dropped(annotator=name)
    return list(found.values())


def counted(folder: Folder) -> list[Vote]:
    """The votes that make labels: on pairs of the set as they are now, of annotators who were not dropped.

    A vote on a pair that was in a pack, and that somebody has since taken out of pairs.jsonl, does not count; nor does one on texts that
    were edited since.

    Raises:
        DataError: a vote names a pair that there never was, or an answer that is not in its pair, or see `refuse_edited_votes`.
    """
    refuse_edited_votes(folder)
    texts = ShownTexts(folder)
    pairs = {pair.id: pair for pair in folder.read(Pair)}
    given = {one.pair_id for one in folder.read(Shown)}
    dropped = {one.annotator for one in folder.read(Dropped)}
    found = []
    for number, vote in enumerate(folder.read(Vote), start=1):
        if vote.pair_id.startswith(ATTENTION):
            continue
        where, pair = f"{folder.path(Vote)}, line {number}", pairs.get(vote.pair_id)
        if pair is None and vote.pair_id in given:
            continue
        if pair is None:
            raise DataError(
                f"{where}: found a vote on the pair {short(vote.pair_id)}, expected one of {folder.path(Pair)}. Put the pair back, or remove the vote."
            )
        if vote.chosen not in (pair.first, pair.second):
            raise DataError(
                f"{where}: found a vote for {short(vote.chosen)}, expected an answer of the pair {pair.id}. Remove the vote."
            )
        if vote.annotator not in dropped and vote.texts == texts.of(pair):
            found.append(vote)
    return found


def outdated(folder: Folder) -> int:
    """How many votes are on texts that their pair no longer has."""
    texts = ShownTexts(folder)
    now = {pair.id: texts.of(pair) for pair in folder.read(Pair)}
    return sum(vote.pair_id in now and vote.texts != now[vote.pair_id] for vote in folder.read(Vote))


def by_models(votes: Iterable[Vote]) -> bool | None:
    """Whether models voted and no person did; None for both of them together."""
    kinds = {vote.annotator.startswith(MODEL) for vote in votes}
    return None if len(kinds) > 1 else True in kinds
