"""`build votes`: what annotators sent into votes.jsonl; and who has voted how."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...annotation.rows import Dropped, PackItem, Vote
from ...common.errors import DataError
from ...common.records import short, short_list
from ..coins import LEAST_VOTES
from ..folder import Folder
from ..rows import Pair
from ..steps import PACKS, TIERS, VOTES, Say, command
from .annotators import Annotator, annotators
from .collected import Merged, counted, merged, outdated
from .growing import ATTENTION
from .pack_files import CONSENT


def take_votes(
    folder: Folder,
    files: Sequence[Path],
    drop: Sequence[str],
    say: Say,
) -> None:
    """Add votes, drop annotators, and say who has voted how.

    Args:
        files: that annotators sent.
        drop: annotators whose votes make no labels from now on.

    Raises:
        DataError: see `merged`; a dropped annotator has neither a pack nor a vote, or nobody has one.
    """
    with folder.step(VOTES):
        if files:
            write_merged(folder, merged(folder, files), say)
        votes = votes_there(folder, drop)
    pack = pack_of(folder, votes)
    found = annotators(list(pack), pack, folder.read(PackItem), votes, counted(folder), folder.by_id(Pair))
    say_annotators(folder, found, command("votes", folder.root), say)
    if not votes:
        say("There are no votes yet. The next packs give the items of dropped annotators to others.")
        say(f"Next: {PACKS.line(folder.root)}")
        return
    _say_votes_per_pair(folder, votes, say)
    say(f"Next: {TIERS.line(folder.root)}")


def write_merged(folder: Folder, merged: Merged, say: Say) -> None:
    """Write the votes that were there and came in, and say how many."""
    folder.write(Vote, merged.votes)
    counts = (
        f"{merged.again:,} were there before" * bool(merged.again),
        f"{len(merged.replaced):,} replace another one" * bool(merged.replaced),
    )
    say("; ".join([f"{merged.new:,} new votes", *filter(None, counts)]))
    for line in merged.replaced:
        say(f"! {line}")


def votes_there(folder: Folder, drop: Sequence[str]) -> list[Vote]:
    """All votes, after some annotators were dropped. Raises DataError if a dropped annotator has neither a pack nor a vote; or if there are no
    votes, and nobody is dropped."""
    votes = folder.read(Vote)
    if not votes and not drop:
        raise DataError(
            f"{folder.path(Vote)}: found no votes, expected some. Pass the files that annotators sent back."
        )
    if drop:
        folder.write(Dropped, _with_dropped(folder, drop, votes))
    return votes


def pack_of(folder: Folder, votes: Sequence[Vote]) -> dict[str, str]:
    """Everybody who has a pack or a vote -> whose pack they had."""
    voters = dict.fromkeys(vote.annotator for vote in votes)
    shared = {_pack(voter) for voter in voters} - voters.keys()  # a pack that people with logins share is theirs alone
    packs = {item.annotator for item in folder.read(PackItem)} - shared
    names = sorted({*packs, *voters}, key=lambda name: (len(_pack(name)), name))
    return {name: _pack(name) for name in names}


def say_annotators(folder: Folder, found: Sequence[Annotator], again: str, say: Say) -> None:
    """What the votes say about each annotator, and why somebody should look at their votes.

    Args:
        again: the command that takes votes.
    """
    dropped = folder.by_id(Dropped)
    for annotator in found:
        name = annotator.name
        say(f"{name}: {annotator.line}{' (dropped)' if name in dropped else ''}")
        for doubt in () if name in dropped else annotator.doubts:
            say(f"! {name} {doubt}. To leave these votes out: {again} --drop {shlex.quote(name)}")


def _pack(annotator: str) -> str:
    """Whose pack an annotator had: their own, or that of everybody with a login."""
    return annotator.partition(":")[0]


def _with_dropped(folder: Folder, names: Iterable[str], votes: Sequence[Vote]) -> list[Dropped]:
    """Those who were dropped before, and these. Raises DataError if one of them has neither a pack nor a vote."""
    dropped = folder.by_id(Dropped)
    known = dict.fromkeys([*(vote.annotator for vote in votes), *(item.annotator for item in folder.read(PackItem))])
    for name in names:
        if name not in known:
            raise DataError(
                f"--drop {name}: found no vote or pack of {short(name)}, expected one of {short_list(known) or 'nobody'}."
            )
        dropped[name] = Dropped(annotator=name)
    return list(dropped.values())


def _say_votes_per_pair(folder: Folder, votes: Sequence[Vote], say: Say) -> None:
    pairs = folder.by_id(Pair)
    of_pair = Counter(vote.pair_id for vote in counted(folder))
    counts = Counter(of_pair[pair] for pair in pairs)
    per_count = (f"{pairs:,} pairs have {count}" for count, pairs in sorted(counts.items(), reverse=True))
    say(f"votes to a pair: {', '.join(per_count)}")
    if removed := sum(vote.pair_id not in pairs and not vote.pair_id.startswith(ATTENTION) for vote in votes):
        say(f"{removed:,} votes are on pairs that {folder.path(Pair)} no longer has: they do not count")
    if edited := outdated(folder):
        say(f"{edited:,} votes are on texts that were edited since: they do not count")
    if (folder.root / CONSENT).is_file() and (without := sum(not vote.consent for vote in votes)):
        say(f"! {without:,} votes came without consent to {folder.root / CONSENT}: only the page asks for it")
    if lacking := sum(pairs for count, pairs in counts.items() if count < LEAST_VOTES):
        say(
            f"! {lacking:,} pairs have fewer than {LEAST_VOTES} votes: with so few, even full agreement may be chance, and no Medium or Hard case is "
            "made of them. Wait for more votes."
        )
