"""Files of annotators -> votes, which are the same whether files come at once, one by one, in parts, or again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..common import tables
from ..common.errors import DataError
from ..common.records import decoded, load_json, read, short, short_list
from ..common.row_files import RowFolder
from .assignment import Assignment, is_swapped
from .items import CANNOT, FAULTS, LETTERS, MARKS, NONE, Item
from .rows import PackItem, Vote


class Merged(NamedTuple):
    """All votes; counts of new, of repeated ones, and of those that differ from another vote of the same person."""

    votes: list[Vote]
    new: int
    again: int
    replaced: int


def merged(folder: RowFolder, asked: Assignment, paths: Iterable[Path]) -> Merged:
    """Existing votes and those of files. Of two by one person on one item the later counts: by time, else by file.
    Raises DataError if a file is broken, or a vote fits no item."""
    places = {place.item: place for place in folder.read(PackItem)}
    votes = {_key(vote): vote for vote in folder.read(Vote)}
    before, again, replaced = len(votes), 0, 0
    for path in paths:
        sent_votes = read_votes(path)
        if not sent_votes:
            raise DataError(
                f"{path}: found no vote in it, expected an answer in some rows. Ask the annotator for the file that "
                "was filled in."
            )
        for sent in sent_votes:
            if sent.item not in places:
                raise DataError(
                    f"{sent.where}: found the item {short(sent.item)}, expected one of {folder.path(PackItem)}, such "
                    f"as {short_list(list(places)[:3])}. Import it into the folder whose packs were sent out, and "
                    "let no spreadsheet change the column item."
                )
            place = places[sent.item]
            vote = _vote(asked.now(place), place, sent)
            known = votes.setdefault(_key(vote), vote)
            if known is vote:
                continue
            again += known.chosen == vote.chosen
            replaced += known.chosen != vote.chosen
            if not (known.at and vote.at) or vote.at >= known.at:
                votes[_key(vote)] = vote
    return Merged(list(votes.values()), len(votes) - before, again, replaced)


def _key(vote: Vote) -> tuple[object, ...]:
    return vote.annotator, vote.pair_id, vote.texts


def _vote(item: Item | None, place: PackItem, sent: SentVote) -> Vote:
    # Two options that were removed are still known by their ids.
    if item is None and not place.left:
        raise DataError(
            f"{sent.where}: found the item {place.item}, which is about {place.pair_id}, expected an item whose row "
            "still exists. Put the row back."
        )
    item = item or Item(id=place.pair_id, texts={}, options=dict.fromkeys(place.options, ""))
    answer, marks = _answer(item, sent), _marks(item, sent)
    if answer in item.noted and not sent.note.strip():
        raise DataError(
            f"{sent.where}: found the vote {short(sent.answer)} without a note, expected a note on what is missing. "
            "Ask the annotator, or leave out this vote."
        )
    of_letter = dict(zip(LETTERS, place.options, strict=True))
    chosen = item.mirrored.get(answer, answer) if is_swapped(item, place) else answer
    if item.options and not item.answers and answer != CANNOT:
        chosen = of_letter[answer]
    faults = {}
    for letter, name in of_letter.items():
        if marked := tuple(fault for fault in FAULTS if f"{letter} {fault}" in marks):
            faults[name] = marked
    were_asked = bool(marks) or (item.faults and sent.faults is not None)
    return Vote(
        annotator=place.annotator, pair_id=place.pair_id, chosen=chosen, shown_as=answer, texts=place.texts,
        note=sent.note, at=sent.at, faults=faults if were_asked else None,
    )  # fmt: skip


def _marks(item: Item, sent: SentVote) -> list[str]:
    # as an annotator wrote them, separated by `;` or `,`
    known = {mark.casefold(): mark for mark in MARKS if item.options}
    written = (sent.faults or "").replace(",", ";").split(";")
    marks = [" ".join(mark.split()).casefold() for mark in written if mark.strip()]
    for mark in marks:
        if mark not in known:
            raise DataError(
                f"{sent.where}: found {short(mark)} under faults, expected any of "
                f"{', '.join(known.values()) or 'no faults'}, with ; between. Ask the annotator."
            )
    return [known[mark] for mark in marks]


def _answer(item: Item, sent: SentVote) -> str:
    # as the item has it; ticked answers in their order, separated by spaces
    known, text = {answer.casefold(): answer for answer in item.labels}, " ".join(sent.answer.split()).casefold()
    if text == CANNOT or (item.several and text == NONE):
        return text
    ticked = set(text.replace(",", " ").split()) if item.several else {text}
    if ticked and ticked <= known.keys():
        return " ".join(answer for name, answer in known.items() if name in ticked)
    how_many = " (any number of them)" if item.several else ""
    raise DataError(
        f"{sent.where}: found the vote {short(sent.answer)}, expected {', '.join(item.labels)} or `{CANNOT}`{how_many}, "
        "or nothing. Ask the annotator."
    )


class SentVote(NamedTuple):
    """A vote as it came."""

    where: str  # place in the file, for errors
    item: str  # id in a pack
    answer: str  # as written, not empty
    note: str = ""
    at: str = ""  # time of the answer, in ISO 8601; empty if unknown
    faults: str | None = None  # as written; None where there was no place for them


def read_votes(path: Path) -> list[SentVote]:
    """The votes of a file: a CSV, or an export of Label Studio as JSON. Its content decides: people rename files. Items
    without a vote are skipped: annotators may send unfinished files. Raises DataError for any other file, and for two
    votes on one item."""
    raw = read(path)
    is_json = raw.lstrip()[:1] in (b"[", b"{")
    votes: dict[str, SentVote] = {}
    for vote in _label_studio(path, raw) if is_json else _table(path, raw):
        if vote.item in votes:
            raise DataError(
                f"{vote.where}: found a second vote on the item {short(vote.item)}, expected one of each person. "
                "Give each annotator a pack and, in a tool, a project of their own."
            )
        votes[vote.item] = vote
    return list(votes.values())


_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d([.]\d+)?)?Z)?")


def _table(path: Path, raw: bytes) -> Iterator[SentVote]:
    for where, row in tables.rows(path, ("item", "vote", "note", "at", "faults"), ["item", "vote"], raw):
        if row.get("at") and not _TIME.fullmatch(row["at"]):  # times are compared as texts
            raise DataError(
                f"{where}: found the time {short(row['at'])}, expected one in UTC such as 2026-01-31T09:30:00Z, or "
                "nothing. Put it back, or empty the column at: then the later file counts."
            )
        if row.get("vote"):
            yield SentVote(
                where=where, item=row["item"], answer=row["vote"], note=row.get("note", ""), at=row.get("at", ""),
                faults=row.get("faults"),
            )  # fmt: skip


class _Data(msgspec.Struct, frozen=True):
    item: str


class _Value(msgspec.Struct, frozen=True):
    choices: tuple[str, ...] = ()
    text: tuple[str, ...] = ()


class _Result(msgspec.Struct, frozen=True):
    from_name: str = ""
    value: _Value = _Value()


class _Annotation(msgspec.Struct, frozen=True):
    result: tuple[_Result, ...]
    was_cancelled: bool | None = None

    def written(self, field: str) -> list[str]:
        values = [result.value for result in self.result if result.from_name == field]
        return [text for value in values for text in value.choices or value.text]


class _Task(msgspec.Struct, frozen=True):
    data: _Data
    annotations: tuple[_Annotation, ...]


def _label_studio(path: Path, raw: bytes) -> Iterator[SentVote]:
    fix = "Pass a CSV with the columns item and vote, or an export of Label Studio as JSON: not JSON-MIN, nor the pack."
    tasks = decoded(path, load_json(path, "a CSV or a JSON export", "Export it again.", raw), tuple[_Task, ...], fix)
    for number, task in enumerate(tasks, start=1):
        for one in task.annotations:
            if not one.was_cancelled and (choices := one.written("vote")):  # exports have cancelled annotations, too
                yield SentVote(
                    where=f"{path}, task {number}", item=task.data.item, answer=" ".join(choices),
                    note="; ".join(one.written("note")),
                    faults="; ".join(one.written("faults")),
                )  # fmt: skip
