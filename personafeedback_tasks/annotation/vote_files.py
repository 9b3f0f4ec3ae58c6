"""Files that annotators send back -> votes. Content decides the format: people rename files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..common import tables
from ..common.errors import DataError
from ..common.records import broken, load_json, read, short


@dataclass(frozen=True, kw_only=True)
class SentVote:
    """A vote as it came.

    Attributes:
        where: its place in the file, for errors.
        item: of a pack.
        answer: as it was written, not empty, see `items.read_answer`.
        login: of the annotator, where a tool has logins and several people may have one pack; else empty.
        note: the annotator's.
        seconds: that the item was in front of them; 0 if unknown.
        at: when they answered, in ISO 8601; empty if unknown.
        consent: see `pack_files.consent_digest`; empty if they were not asked.
        faults: as they were written, see `items.read_marks`; None where there was no place for them.
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

    Raises:
        DataError: it is none of these.
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


def _label_studio(where: str, task: Any) -> Iterator[SentVote]:
    """Every annotation that was submitted. Label Studio exports cancelled ones, too."""
    if (
        not isinstance(task, dict)
        or not isinstance(task.get("data"), dict)
        or not isinstance(task.get("annotations"), list)
    ):
        raise broken(
            where,
            short(task),
            "a task with data and annotations: an export as JSON, not as JSON-MIN, nor the pack itself",
        )
    item = task["data"].get("item")
    if not isinstance(item, str):
        raise broken(where, f"data.item = {short(item)}", "the item of a pack")
    for annotation in task["annotations"]:
        results = annotation.get("result") if isinstance(annotation, dict) else None
        if not isinstance(results, list):
            raise broken(where, f"the annotation {short(annotation)}", "one with a result")
        if annotation.get("was_cancelled"):
            continue
        faults = [one for result in results for one in _written(where, result, "faults", "choices")]
        notes = [one for result in results for one in _written(where, result, "note", "text")]
        for result in results:
            if choices := _written(where, result, "vote", "choices"):
                yield SentVote(
                    where=where, item=item, answer=" ".join(choices), login=_login(annotation.get("completed_by")), note="; ".join(notes),
                    faults="; ".join(faults),
                )  # fmt: skip


def _written(where: str, result: Any, field: str, kind: str) -> list[str]:
    """What a result of Label Studio has for a field: texts, or choices; nothing if it is another field's."""
    if not isinstance(result, dict) or result.get("from_name") != field:
        return []
    value = result.get("value")
    written = value.get(kind) if isinstance(value, dict) else None
    if not isinstance(written, list) or not written or not all(isinstance(one, str) for one in written):
        raise broken(
            where, f"{kind} = {short(written)}", "one text or more" if kind == "text" else "one choice or more"
        )
    return written


def _login(user: Any) -> str:
    """A number, a name, or an object that has either."""
    if isinstance(user, dict):
        user = user.get("id") or user.get("email")
    return str(user) if isinstance(user, (str, int)) and not isinstance(user, bool) else ""
