"""Files that annotators send back -> votes. Content decides the format: people rename files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ..common import tables
from ..common.errors import DataError
from ..common.records import broken, decoded, load_json, read, short


@dataclass(frozen=True, kw_only=True)
class SentVote:
    """A vote as it came.

    Attributes:
        where: place in the file, for errors.
        item: id in a pack.
        answer: as written, not empty.
        login: of the annotator, where a tool has logins and several people may have one pack; else empty.
        seconds: that the item was on the screen; 0 if unknown.
        at: time of the answer, in ISO 8601; empty if unknown.
        consent: digest of the text agreed to; empty if there was none.
        faults: as written; None where there was no place for them.
    """

    where: str
    item: str
    answer: str
    login: str = ""
    note: str = ""
    seconds: int = 0
    at: str = ""
    consent: str = ""
    faults: str | None = None


def read_votes(path: Path) -> list[SentVote]:
    """The votes of a file: CSV (also of the page, or of Label Studio), or an export of Label Studio (JSON).

    Items without a vote are skipped: annotators may send unfinished files.
    """
    if read(path).lstrip()[:1] not in (b"[", b"{"):
        return _from_table(path)
    document = load_json(path, "a CSV or a JSON export", "Export it again.")
    if isinstance(document, list):
        return [
            vote
            for number, task in enumerate(document, start=1)
            for vote in _label_studio(f"{path}, task {number}", task)
        ]
    raise DataError(
        f"{path}: found an object with {', '.join(list(document)[:5]) or 'no keys'}, expected a CSV with the columns item and vote, "
        "or a JSON export of Label Studio. Pass the file that the annotator sent."
    )


_COLUMNS = ("item", "vote", "annotator", "note", "seconds", "at", "consent", "faults")


def _from_table(path: Path) -> list[SentVote]:
    return [
        SentVote(
            where=where, item=row["item"], answer=row["vote"], login=row.get("annotator", ""), note=row.get("note", ""),
            seconds=_seconds(where, row.get("seconds", "")), at=row.get("at", ""), consent=row.get("consent", ""),
            faults=row.get("faults"),
        )
        for where, row in tables.rows(path, _COLUMNS, ["item", "vote"])
        if row.get("vote")
    ]  # fmt: skip


def _seconds(where: str, written: str) -> int:
    if written and not (written.isascii() and written.isdecimal()):
        raise broken(where, f"seconds = {short(written)}", "a whole number, or nothing")
    return int(written or 0)


class _Data(msgspec.Struct, frozen=True):
    item: str


class _Value(msgspec.Struct, frozen=True):
    choices: tuple[str, ...] = ()
    text: tuple[str, ...] | str = ()  # a string is of a field of the team's own


class _Result(msgspec.Struct, frozen=True):
    from_name: str = ""
    value: _Value = _Value()


class _Annotation(msgspec.Struct, frozen=True):
    result: tuple[_Result, ...]
    was_cancelled: bool | None = None
    completed_by: int | str | dict[str, Any] | None = None  # a number, a name, or an object that has either

    def written(self, field: str) -> list[str]:
        of_field = [result.value for result in self.result if result.from_name == field]
        texts = [value.choices or value.text for value in of_field]
        return [one for text in texts for one in ([text] if isinstance(text, str) else text)]

    @property
    def login(self) -> str:
        user = self.completed_by
        return str((user.get("id") or user.get("email")) if isinstance(user, dict) else "" if user is None else user)


class _Task(msgspec.Struct, frozen=True):
    data: _Data
    annotations: tuple[_Annotation, ...]


def _label_studio(where: str, task: Any) -> Iterator[SentVote]:
    # Label Studio exports cancelled annotations, too.
    fix = "Pass an export as JSON, not as JSON-MIN, nor the pack itself."
    task = decoded(where, task, _Task, fix)
    for one in task.annotations:
        if not one.was_cancelled and (choices := one.written("vote")):
            yield SentVote(
                where=where, item=task.data.item, answer=" ".join(choices), login=one.login, note="; ".join(one.written("note")),
                faults="; ".join(one.written("faults")),
            )  # fmt: skip
