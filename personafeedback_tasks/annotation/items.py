"""An item: texts that an annotator is shown, and a closed set of answers. A pair of responses is one kind of item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from ..common.text import nfc
from ..core.cases import digest_of
from .rows import Digests, Vote

LETTERS = "AB"
"""Names of the two options, in their order."""

CANNOT = "cannot judge"
"""An answer that every item allows; the note says why."""

NONE = "none"
"""The answer that ticks nothing, where any number may be ticked."""

FAULTS = ("uncomfortable", "over-personalized")
"""Faults of a response, chosen or not: it talks about the user as one would not to a person; it drags them in."""

MARKS = [f"{letter} {fault}" for letter in LETTERS for fault in FAULTS]
"""How annotators write that an option has a fault: `A uncomfortable`."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One question about one thing: the same for all annotators, except for sides and the order of a list."""

    id: str  # of the case; in a pack, of the place in it, which an answer names
    texts: Mapping[str, str]  # name -> text, in reading order; the page shows the first one at its side
    options: Mapping[str, str] = field(default_factory=dict)  # id -> text of two to compare, under LETTERS; or none
    answers: Mapping[str, str] = field(default_factory=dict)  # answer -> its label; the letters of the options if empty
    several: bool = False  # any number of answers may be ticked
    noted: Sequence[str] = ()  # answers that require a note
    asks: str = ""  # question about this item; the guideline's title if empty
    user_id: str = ""
    kind: str = ""  # items of one kind share a guideline, and go into one pack
    block: str = ""  # items of one block come one after another; one item alone if empty
    mirrored: Mapping[str, str] = field(default_factory=dict)  # answer -> its equivalent where the options are swapped
    faults: bool = False  # options may be marked with FAULTS. Not in `digests`, so that earlier answers stay valid
    expected: Sequence[str] = ()  # of a check: an attentive annotator gives any of these, or ticks at least this

    @property
    def labels(self) -> Mapping[str, str]:
        """Answer -> its label on a button."""
        return self.answers or {letter: letter for letter in LETTERS if self.options}

    @cached_property
    def digests(self) -> Digests:
        """Digests of its texts and options; and one of what else is shown, if anything is."""
        of_texts = digests((*self.texts.values(), *self.options.values()))
        more = [self.asks, *self.answers.items()] if self.asks or self.answers else []
        return (*of_texts, *([digest_of(more)] if more else []))


def fault_counts(votes: Iterable[Vote], sides: Mapping[str, str]) -> dict[str, Any]:
    """`{"asked": people, side: {fault: people}, ...}` of one item, as rows have it; empty if no annotator was asked.
    `sides` has the id of each side's option."""
    asked = [vote.faults for vote in votes if vote.faults is not None]
    counts: dict[str, Any] = {"asked": len(asked)}
    for side, option in sides.items():
        counts[side] = {fault: sum(fault in faults.get(option, ()) for faults in asked) for fault in FAULTS}
    return counts if asked else {}


def digests(texts: Iterable[str]) -> Digests:
    """The digest (12 hex digits) of each text, but for trailing spaces, line breaks and Unicode composition."""
    return tuple(digest_of(["\n".join(map(str.rstrip, nfc(text).strip().splitlines()))]) for text in texts)


@dataclass(frozen=True, kw_only=True)
class Guideline:
    """Instructions to annotators."""

    title: str  # the question about every item, in one sentence
    rules: tuple[str, ...]  # a sentence or two each
    headings: Mapping[str, str]  # name of an item's text -> its heading
    option: str = ""  # heading of an option, before its letter
    language: str = "en"  # code, for the page's own words; English where it has none in this language


def guidelines(path: Path) -> dict[str, Guideline]:
    """Guidelines by name, from a YAML file of this package."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: Guideline(**{**of, "rules": tuple(of["rules"])}) for name, of in found.items()}
