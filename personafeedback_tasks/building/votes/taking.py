"""`build votes`: what annotators sent, and votes of models, into votes.jsonl; and who has voted how."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...common.errors import DataError
from ..folder import Folder
from ..rows import Dropped, Pair, Vote
from ..steps import TIERS, Say, command
from .annotators import annotators, with_dropped
from .collected import counted, merged, outdated
from .model_votes import add_model_votes
from .packs import ATTENTION


def take_votes(
    folder: Folder,
    files: Sequence[Path],
    drop: Sequence[str],
    models: Sequence[str],
    model_args: Mapping[str, Any],
    say: Say,
) -> None:
    """Add votes, drop annotators, and say who has voted how.

    Args:
        files: that annotators sent.
        drop: annotators whose votes make no labels from now on.
        models: that vote, too.

    Raises:
        DataError: see `merged`, `add_model_votes` and `with_dropped`; or there are no votes.
        OptionError: a model does not exist.
    """
    with folder.locked():
        if files:
            votes, new, again = merged(folder, files)
            folder.write(Vote, votes)
            say(f"{new:,} new votes" + (f"; {again:,} were there before" if again else ""))
        if models:
            add_model_votes(folder, models, model_args, say)
        votes = folder.read(Vote)
        if not votes:
            raise DataError(
                f"{folder.path(Vote)}: found no votes, expected some. Pass the files that annotators sent back, or --votes-by MODEL."
            )
        if drop:
            folder.write(Dropped, with_dropped(folder, drop, votes))
    for annotator in annotators(folder, votes):
        given = f" of {annotator.given:,}" if annotator.given else ""
        say(f"{annotator.name}: {annotator.votes:,}{given} votes{' (dropped)' if annotator.dropped else ''}")
        for doubt in () if annotator.dropped else annotator.doubts:
            leave_out = f"{command('votes', folder.root)} --drop {shlex.quote(annotator.name)}"
            say(f"! {annotator.name} {doubt}. To leave these votes out: {leave_out}")
    _say_votes_per_pair(folder, votes, say)
    say(f"Next: {TIERS.line(folder.root)}")


def _say_votes_per_pair(folder: Folder, votes: Sequence[Vote], say: Say) -> None:
    pairs, settings = folder.by_id(Pair), folder.settings
    of_pair = Counter(vote.pair_id for vote in counted(folder))
    counts = Counter(of_pair[pair] for pair in pairs)
    per_count = (f"{pairs:,} pairs have {count}" for count, pairs in sorted(counts.items(), reverse=True))
    say(f"votes to a pair: {', '.join(per_count)}")
    if removed := sum(vote.pair_id not in pairs and not vote.pair_id.startswith(ATTENTION) for vote in votes):
        say(f"{removed:,} votes are on pairs that {folder.path(Pair)} no longer has: they do not count")
    if edited := outdated(folder):
        say(f"{edited:,} votes are on texts that were edited since: they do not count")
    if lacking := sum(pairs for count, pairs in counts.items() if count < settings.least_votes):
        say(
            f"! {lacking:,} pairs have fewer than {settings.least_votes} votes, which is more than half of `annotators: {settings.annotators}` in "
            "build.yaml: no case is made of them. Wait for more votes, or set the number of those who vote."
        )
