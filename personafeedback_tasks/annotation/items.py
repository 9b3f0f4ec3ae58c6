"""An item: texts that an annotator is shown, and a closed set of answers. A pair of responses is one kind of item."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import yaml

from ..common.errors import DataError
from ..common.records import short
from ..common.text import nfc
from ..core.cases import digest_of
from .rows import Digests

LETTERS = "ABCDEFGH"
"""Names of the options, in their order."""

CANNOT = "cannot judge"
"""An answer that every item allows; the note says why."""

NONE = "none"
"""The answer that ticks nothing, where any number may be ticked."""


FAULTS = ("uncomfortable", "over-personalized")
"""What may be wrong with a response, whichever is chosen: it talks about the user as one would not to a person; it drags the person in."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """What people are asked about one thing: the same for all of them, but for the sides of its options and the order of a list.

    Attributes:
        id: what it is about; in a pack, what an answer names.
        texts: name -> text, in the order of reading; the guideline has a heading for each name. The page shows the first one at its side.
        options: id -> text, of what is compared; shown side by side under LETTERS. None where a text is judged by itself.
        answers: answer -> its label on a button; the letters of the options if empty.
        several: any number of answers may be ticked.
        noted: answers that say nothing without a note.
        asks: what is asked about this item; the guideline's title if empty.
        user_id: of the person whom it is about.
        kind: items of one kind share a guideline, and go into one pack.
        block: items of one block go to the same people, one after another; one item alone if empty.
        mirrored: answer -> the same one where the options are shown the other way round; empty if there are none.
        faults: whether each option may be marked with FAULTS, beside the answer. No part of `digests`: earlier answers stay valid.
        expected: an attentive annotator gives any of these answers, or ticks at least this; empty unless it is asked for attention.
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
        """Answer -> its label."""
        return self.answers or {letter: letter for letter in LETTERS[: len(self.options)]}

    @cached_property
    def digests(self) -> Digests:
        """Those of its texts and options; and one of what else is shown, if anything is."""
        of_texts = digests((*self.texts.values(), *self.options.values()))
        more = [self.asks, *self.answers.items()] if self.asks or self.answers else []
        return (*of_texts, *([digest_of(more)] if more else []))

    def shown(self, name: str, swapped: bool, order: Sequence[str]) -> Item:
        """As an annotator sees it.

        Args:
            name: of the item in their pack.
            swapped: the second option comes first.
            order: of the answers.
        """
        options = dict([*self.options.items()][::-1]) if swapped else self.options
        return replace(self, id=name, options=options, answers={answer: self.answers[answer] for answer in order})

    def meant(self, answer: str, swapped: bool) -> str:
        """What an answer to the item as it was shown says of it in its own order: an option's id for a letter."""
        if answer == CANNOT:
            return CANNOT
        if self.options and not self.answers:
            options = [*self.options][::-1] if swapped else [*self.options]
            return options[LETTERS.index(answer)]
        return self.mirrored.get(answer, answer) if swapped else answer

    def faulted(self, marks: Sequence[str], swapped: bool) -> dict[str, tuple[str, ...]]:
        """Option's id -> its faults, of the marks on the item as it was shown."""
        options = [*self.options][::-1] if swapped else [*self.options]
        found = {
            name: tuple(fault for fault in FAULTS if f"{letter} {fault}" in marks)
            for letter, name in zip(LETTERS, options, strict=False)
        }
        return {name: faults for name, faults in found.items() if faults}


def digests(texts: Iterable[str]) -> Digests:
    """The digest (12 hex digits) of each text.

    Spaces at the ends of lines, the kind of line break and how Unicode composes a letter change nothing: annotators do not see them.
    """
    return tuple(digest_of(["\n".join(map(str.rstrip, nfc(text).strip().splitlines()))]) for text in texts)


def is_attentive(expected: str, answer: str) -> bool:
    """Whether an answer is what somebody attentive gives.

    Args:
        expected: `Item.expected` with ` | ` between them.
    """
    ticked = set(answer.split())
    return any(set(one.split()) <= ticked for one in expected.split(" | "))


@dataclass(frozen=True, kw_only=True)
class Guideline:
    """What annotators are told.

    Attributes:
        title: the question about every item, in one sentence.
        rules: a sentence or two each.
        headings: name of an item's text -> its heading.
        option: heading of an option, in front of its letter.
        language: of the page's own words, a code; English if there are none in it.
    """

    title: str
    rules: tuple[str, ...]
    headings: Mapping[str, str]
    option: str = ""
    language: str = "en"


def guidelines(path: Path) -> dict[str, Guideline]:
    """The guidelines of a file of this package, by name."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: Guideline(**{**of, "rules": tuple(of["rules"])}) for name, of in found.items()}


@dataclass(frozen=True, kw_only=True)
class Pack:
    """What one annotator gets.

    Attributes:
        annotator: opaque; in the names of files.
        folder: below that of all packs, for its files and those that go with them; empty for none.
        title: of the set.
        consent: what they must agree to before the page shows an item; nothing if empty.
    """

    annotator: str
    items: Sequence[Item]
    guideline: Guideline
    title: str
    consent: str = ""
    folder: str = ""

    @property
    def answers(self) -> list[str]:
        """All answers to items of the pack, numbers in their order; NONE where an item may have none, and CANNOT last."""
        every = dict.fromkeys(answer for item in self.items for answer in item.labels)
        none = [NONE] if any(item.several for item in self.items) else []
        return [*sorted(every, key=lambda answer: int(answer) if answer.isdecimal() else 0), *none, CANNOT]

    @property
    def marks(self) -> list[str]:
        """All marks that options may get; none where nobody is asked for faults."""
        return marks_of(max((len(item.options) for item in self.items if item.faults), default=0))


def marks_of(options: int) -> list[str]:
    """The marks of so many options: `A uncomfortable` and so on."""
    return [f"{letter} {fault}" for letter in LETTERS[:options] for fault in FAULTS]


def read_marks(where: str, written: str, options: int) -> list[str]:
    """Marks as somebody wrote them, with `;` or `,` between. Raises DataError: one is none of `marks_of`."""
    marks = [" ".join(mark.split()).casefold() for mark in written.replace(",", ";").split(";") if mark.strip()]
    known = {mark.casefold(): mark for mark in marks_of(options)}
    for mark in marks:
        if mark not in known:
            raise DataError(
                f"{where}: found {short(mark)} under faults, expected any of {', '.join(known.values()) or 'no faults'}, with ; between. Ask the "
                "annotator."
            )
    return [mark for name, mark in known.items() if name in marks]


def read_answer(where: str, written: str, answers: Collection[str], several: bool = False) -> str:
    """An answer as somebody wrote it -> as the item has it; ticked answers in their order, with spaces between.

    Args:
        where: for errors.
        answers: that the item allows.
        several: any number of them, or NONE.

    Raises:
        DataError: it is none of these.
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
        f"{where}: found the vote {short(written)}, expected {', '.join(answers)} or `{CANNOT}`{how_many}, or nothing. Ask the annotator."
    )
