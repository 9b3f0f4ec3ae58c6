"""Rows of a study's files: what each annotator was shown, their votes, and whose votes do not count."""

from __future__ import annotations

from ..common.records import NonEmpty
from ..common.row_files import FileRow

Digests = tuple[str, ...]
"""Digests of the texts of an item as they were shown, see `items.digests`; empty where none were recorded."""


class PackItem(FileRow, frozen=True):
    """One place of a pack, as its annotator sees it."""

    file = "packs/shown.jsonl"
    key = ("item",)

    annotator: NonEmpty  # opaque
    item: NonEmpty  # what a vote names
    pair_id: NonEmpty  # of pairs.jsonl, or of an attention item
    left: str = ""  # ids of the answers in the order in which they are shown; empty where nothing is compared
    right: str = ""
    attention: str = ""  # id of the answer that an attentive annotator takes; empty for a pair of the set
    texts: Digests = ()  # what is shown

    @property
    def options(self) -> tuple[str, ...]:
        """Ids of the answers that are shown as A and as B."""
        return self.left, self.right


class Vote(FileRow, frozen=True):
    """The vote of one annotator on one pair, or that they cannot judge it."""

    file = "votes.jsonl"
    key = ("annotator", "pair_id", "texts")

    annotator: NonEmpty  # opaque
    pair_id: NonEmpty
    chosen: NonEmpty  # id of the answer that the annotator took, or CANNOT
    shown_as: NonEmpty  # the letter of that answer, or CANNOT; of an item that is no pair, the answer as it was given
    texts: Digests = ()  # what the annotator saw. The vote counts while the pair has these texts
    note: str = ""  # the annotator's; of one who cannot judge, it begins with the reason
    at: str = ""  # when, in ISO 8601; empty if unknown
    faults: dict[str, tuple[str, ...]] | None = None  # id of an answer -> its FAULTS; None where nobody asked


class Dropped(FileRow, frozen=True):
    """An annotator whose votes make no labels. They stay in votes.jsonl."""

    file = "dropped.csv"
    key = ("annotator",)

    annotator: NonEmpty
