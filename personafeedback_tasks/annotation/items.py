"""An item: texts that an annotator is shown, and a closed set of answers. A pair of responses is one kind of item."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from ..common.errors import DataError
from ..common.records import short
from ..common.text import nfc
from ..core.cases import digest_of
from .rows import Digests, Vote

LETTERS = "ABCDEFGH"
"""Names of the options, in their order."""

CANNOT = "cannot judge"
"""An answer that every item allows; the note says why."""

NONE = "none"
"""The answer that ticks nothing, where any number may be ticked."""


FAULTS = ("uncomfortable", "over-personalized")
"""Faults of a response, chosen or not: it talks about the user as one would not to a person; it drags them in."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One question about one thing: the same for all annotators, except for sides and the order of a list.

    Attributes:
        id: of the case; in a pack, of the place in it, which an answer names.
        texts: name -> text, in reading order; the page shows the first one at its side.
        options: id -> text of what is compared, side by side under LETTERS; empty where a text is judged by itself.
        answers: answer -> its label on a button; the letters of the options if empty.
        several: any number of answers may be ticked.
        noted: answers that require a note.
        asks: question about this item; the guideline's title if empty.
        kind: items of one kind share a guideline, and go into one pack.
        block: items of one block come one after another; one item alone if empty.
        mirrored: answer -> its equivalent where the options are swapped; empty if there are none.
        faults: each option may also be marked with FAULTS. Not in `digests`, so that earlier answers stay valid.
        expected: an attentive annotator gives any of these, or ticks at least this; empty unless it checks attention.
    """

    id: str
    texts: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    several: bool = False
    noted: Sequence[str] = ()
    asks: str = ""
    user_id: str = ""
    kind: str = ""
    block: str = ""
    mirrored: Mapping[str, str] = field(default_factory=dict)
    faults: bool = False
    expected: Sequence[str] = ()

    @property
    def labels(self) -> Mapping[str, str]:
        """Answer -> its label on a button."""
        return self.answers or {letter: letter for letter in LETTERS[: len(self.options)]}

    @cached_property
    def digests(self) -> Digests:
        """Digests of its texts and options; and one of what else is shown, if anything is."""
        of_texts = digests((*self.texts.values(), *self.options.values()))
        more = [self.asks, *self.answers.items()] if self.asks or self.answers else []
        return (*of_texts, *([digest_of(more)] if more else []))

    def shown(self, name: str, swapped: bool, order: Sequence[str]) -> Item:
        """The item as an annotator sees it, with its id in their pack and its answers in this order."""
        options = dict([*self.options.items()][::-1]) if swapped else self.options
        return replace(self, id=name, options=options, answers={answer: self.answers[answer] for answer in order})

    def meant(self, answer: str, swapped: bool) -> str:
        """An answer to the item as shown, translated to its own order: an option's id for a letter."""
        if answer == CANNOT:
            return CANNOT
        if self.options and not self.answers:
            options = [*self.options][::-1] if swapped else [*self.options]
            return options[LETTERS.index(answer)]
        return self.mirrored.get(answer, answer) if swapped else answer

    def faulted(self, marks: Sequence[str], swapped: bool) -> dict[str, tuple[str, ...]]:
        """Option id -> its faults, from the marks on the item as shown."""
        found: dict[str, tuple[str, ...]] = {}
        options = [*self.options][::-1] if swapped else [*self.options]
        for letter, name in zip(LETTERS, options, strict=False):
            if faults := tuple(fault for fault in FAULTS if f"{letter} {fault}" in marks):
                found[name] = faults
        return found


def fault_counts(votes: Iterable[Vote], sides: Mapping[str, str]) -> dict[str, Any]:
    """`{"asked": people, side: {fault: people}, ...}` of one item, as rows have it; empty if no annotator was asked.

    Args:
        sides: name of a side -> id of its option.
    """
    asked = [vote.faults for vote in votes if vote.faults is not None]
    counts: dict[str, Any] = {"asked": len(asked)}
    for side, option in sides.items():
        counts[side] = {fault: sum(fault in faults.get(option, ()) for faults in asked) for fault in FAULTS}
    return counts if asked else {}


def digests(texts: Iterable[str]) -> Digests:
    """The digest (12 hex digits) of each text, but for trailing spaces, line breaks and Unicode composition."""
    return tuple(digest_of(["\n".join(map(str.rstrip, nfc(text).strip().splitlines()))]) for text in texts)


def is_attentive(expected: str, answer: str) -> bool:
    """Whether an answer passes the attention check `expected`: `Item.expected` joined by ` | `."""
    ticked = set(answer.split())
    return any(set(one.split()) <= ticked for one in expected.split(" | "))


@dataclass(frozen=True, kw_only=True)
class Guideline:
    """Instructions to annotators.

    Attributes:
        title: the question about every item, in one sentence.
        rules: a sentence or two each.
        headings: name of an item's text -> its heading.
        option: heading of an option, before its letter.
        language: code, for the page's own words; English where it has none in this language.
    """

    title: str
    rules: tuple[str, ...]
    headings: Mapping[str, str]
    option: str = ""
    language: str = "en"


def guidelines(path: Path) -> dict[str, Guideline]:
    """Guidelines by name, from a YAML file of this package."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: Guideline(**{**of, "rules": tuple(of["rules"])}) for name, of in found.items()}


@dataclass(frozen=True, kw_only=True)
class Pack:
    """All items of one annotator.

    Attributes:
        annotator: opaque; in the names of files.
        folder: below that of all packs; empty for none.
    """

    annotator: str
    items: Sequence[Item]
    guideline: Guideline
    folder: str = ""

    @property
    def answers(self) -> list[str]:
        """All answers to items of the pack, numbers in order; NONE where an item may have none, and CANNOT last."""
        every = dict.fromkeys(answer for item in self.items for answer in item.labels)
        none = [NONE] if any(item.several for item in self.items) else []
        return [*sorted(every, key=lambda answer: int(answer) if answer.isdecimal() else 0), *none, CANNOT]

    @property
    def marks(self) -> list[str]:
        """All marks that options may get; empty where nobody is asked for faults."""
        return marks_of(max((len(item.options) for item in self.items if item.faults), default=0))


def marks_of(options: int) -> list[str]:
    """The marks for this many options: `A uncomfortable` and so on."""
    return [f"{letter} {fault}" for letter in LETTERS[:options] for fault in FAULTS]


def read_marks(where: str, written: str, options: int) -> list[str]:
    """Marks as an annotator wrote them, separated by `;` or `,`. Raises DataError for an unknown one."""
    marks = [" ".join(mark.split()).casefold() for mark in written.replace(",", ";").split(";") if mark.strip()]
    known = {mark.casefold(): mark for mark in marks_of(options)}
    for mark in marks:
        if mark not in known:
            raise DataError(
                f"{where}: found {short(mark)} under faults, expected any of "
                f"{', '.join(known.values()) or 'no faults'}, with ; between. Ask the annotator."
            )
    return [mark for name, mark in known.items() if name in marks]


def read_answer(where: str, written: str, answers: Collection[str], several: bool = False) -> str:
    """An answer as an annotator wrote it -> as the item has it; ticked answers in their order, separated by spaces.

    Args:
        where: for errors.
        several: any number of the answers, or NONE.
    """
    known = {answer.casefold(): answer for answer in answers}
    text = " ".join(written.split()).casefold()
    if text == CANNOT:
        return CANNOT
    if not several and text in known:
        return known[text]
    if several and text == NONE:
        return NONE
    ticked = set(text.replace(",", " ").split())
    if several and ticked and ticked <= known.keys():
        return " ".join(answer for answer in answers if answer.casefold() in ticked)
    how_many = " (any number of them)" if several else ""
    raise DataError(
        f"{where}: found the vote {short(written)}, expected {', '.join(answers)} or `{CANNOT}`{how_many}, or "
        "nothing. Ask the annotator."
    )
