"""Files of annotators -> votes.jsonl, and which votes count. Files may come one by one, in parts, and again: the votes are the same as of
all at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...annotation.items import CANNOT, LETTERS, read_answer
from ...annotation.vote_files import SentVote, read_votes
from ...common.errors import DataError
from ...common.strict_json import short, short_list
from ..folder import Folder
from ..rows import Dropped, PackItem, Pair, Vote
from .packs import ATTENTION
from .shown_texts import ShownTexts, refuse_edited_votes

MODEL = "model:"
"""What the name of an annotator begins with that is a model."""


def merged(folder: Folder, paths: Iterable[Path]) -> tuple[list[Vote], int, int]:
    """(all votes, how many are new, how many were there before or are in a file twice).

    Raises:
        DataError: a file is broken, an item is of no pack, an annotator has voted for both answers of a pair, or see
            `refuse_edited_votes`. Nothing is written.
    """
    items = {item.item: item for item in folder.need(PackItem)}
    before = folder.read(Vote)
    refuse_edited_votes(folder)
    votes = {_key(vote): (vote, str(folder.path(Vote))) for vote in before}
    again = 0
    for path in paths:
        sent = read_votes(path)
        if not sent:
            raise DataError(
                f"{path}: found no vote in it, expected A or B in some rows. Ask the annotator for the file that was filled in."
            )
        for one in sent:
            if one.item not in items:
                raise DataError(
                    f"{one.where}: found the item {short(one.item)}, expected one of {folder.path(PackItem)}, such as {short_list(list(items)[:3])}. "
                    "Import it into the build whose packs were sent out, and let no spreadsheet change the column item."
                )
            vote = _vote(items[one.item], one)
            known, place = votes.setdefault(_key(vote), (vote, one.where))
            if known.chosen != vote.chosen:
                raise DataError(
                    f"{one.where}: {vote.annotator} voted {vote.shown_as} on {one.item}, but {known.shown_as} in {place}. Ask which one counts, and "
                    "remove the other vote."
                )
            again += known is not vote
    return [vote for vote, _ in votes.values()], len(votes) - len(before), again


def _key(vote: Vote) -> tuple[object, ...]:
    return vote.annotator, vote.pair_id, vote.texts


def _vote(item: PackItem, sent: SentVote) -> Vote:
    """Where a tool has logins, several people may have one pack: each is an annotator of their own."""
    letter = read_answer(sent.where, sent.answer, LETTERS[:2])
    chosen = CANNOT if letter == CANNOT else (item.left, item.right)[LETTERS.index(letter)]
    return Vote(
        annotator=f"{item.annotator}:{sent.login}" if sent.login else item.annotator, pair_id=item.pair_id, chosen=chosen,
        shown_as=letter, texts=item.texts, note=sent.note, seconds=sent.seconds, at=sent.at, consent=sent.consent,
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
        if vote.annotator not in dropped and vote.texts == texts.of(pair):
            votes.append(vote)
    return votes


def outdated(folder: Folder) -> int:
    """How many votes are on texts that their pair no longer has."""
    texts = ShownTexts(folder)
    now = {pair.id: texts.of(pair) for pair in folder.read(Pair)}
    return sum(vote.pair_id in now and vote.texts != now[vote.pair_id] for vote in folder.read(Vote))


def by_models(votes: Iterable[Vote]) -> bool | None:
    """Whether models voted and no person did; None for both of them together."""
    kinds = {vote.annotator.startswith(MODEL) for vote in votes}
    return None if len(kinds) > 1 else True in kinds
