"""Who voted, how much of their pack is done, and why somebody should look at their votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...common.errors import DataError
from ...common.strict_json import short, short_list
from ..folder import Folder
from ..rows import Dropped, PackItem, Vote
from .collected import MODEL
from .packs import ATTENTION

SUSPICIOUS = 12
"""From so many votes on, one letter throughout says something: of an honest annotator, one in 2 ** 11 would do so."""


@dataclass(frozen=True)
class Annotator:
    """An annotator's votes.

    Attributes:
        name: a person's, or a model's with MODEL before it.
        votes: on pairs of the set.
        given: how many pairs of the set are in their pack; 0 for models, who have no pack.
        letters: A and B -> how many of their votes, those on attention items among them.
        failed: attention items that they got wrong; attention: that they answered.
        dropped: whether their votes are left out.
    """

    name: str
    votes: int
    given: int
    letters: Counter[str]
    failed: int
    attention: int
    dropped: bool

    @property
    def doubts(self) -> list[str]:
        """Why somebody should look at their votes."""
        total = self.letters.total()
        failed = [f"failed {self.failed} of {self.attention} attention items"] if self.failed else []
        return failed + [
            f"answered {letter} in all {total}"
            for letter, count in self.letters.items()
            if count == total >= SUSPICIOUS
        ]


def annotators(folder: Folder, votes: Sequence[Vote]) -> list[Annotator]:
    """Everybody who has a pack or a vote, people before models. A pack that people with logins share is theirs alone."""
    items = folder.read(PackItem)
    right = {(item.annotator, item.pair_id): item.attention for item in items}
    voters = dict.fromkeys(vote.annotator for vote in votes)
    shared = {_pack(voter) for voter in voters} - voters.keys()
    packs = {item.annotator for item in items} - shared
    dropped = folder.by_id(Dropped)
    rows = []
    for name in sorted({*packs, *voters}, key=lambda name: (name.startswith(MODEL), len(_pack(name)), name)):
        own = [vote for vote in votes if vote.annotator == name]
        attention = [vote for vote in own if vote.pair_id.startswith(ATTENTION)]
        rows.append(
            Annotator(
                name=name,
                votes=len({vote.pair_id for vote in own} - {vote.pair_id for vote in attention}),
                given=sum(annotator == _pack(name) and not answer for (annotator, _), answer in right.items()),
                letters=Counter(vote.shown_as for vote in own),
                failed=sum(right.get((_pack(name), vote.pair_id)) != vote.chosen for vote in attention),
                attention=len(attention),
                dropped=name in dropped,
            )
        )
    return rows


def _pack(annotator: str) -> str:
    """Whose pack an annotator had: their own, or that of everybody with a login."""
    return annotator if annotator.startswith(MODEL) else annotator.partition(":")[0]


def with_dropped(folder: Folder, names: Iterable[str], votes: Sequence[Vote]) -> list[Dropped]:
    """Those who were dropped before, and these.

    Raises:
        DataError: one of them has no vote.
    """
    dropped = folder.by_id(Dropped)
    known = dict.fromkeys(vote.annotator for vote in votes)
    for name in names:
        if name not in known:
            raise DataError(
                f"--drop {name}: found no vote of {short(name)}, expected one of {short_list(known) or 'nobody'}."
            )
        dropped[name] = Dropped(annotator=name)
    return list(dropped.values())
