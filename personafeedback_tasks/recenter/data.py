"""A folder of judgments -> the rows of a stage. Strict: whatever is broken raises DataError, nothing is skipped or repaired.

A folder has any of these, one JSON object per line:

    extraction.jsonl   id, user_id, conversation [{role, content}], attribute, reason, source, label or votes
    relevance.jsonl    id, user_id, prompt, attribute, label or votes or yes and n
    response.jsonl     id, user_id, prompt, attribute, generic, personalized, votes or nothing
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

from ..common import folders
from ..common.errors import DataError
from ..common.strict_json import broken, rows, short
from ..engine import cases as engine
from ..engine.cases import digest_of
from .rows import STAGES, Extraction, JudgedRow, R, Relevance, Response, parse

ENVIRONMENT_VARIABLE = "RECENTER_DATA"
SAMPLE = "sample"

J = TypeVar("J", Extraction, Relevance)
"""The stages whose judgment is a label."""


class OfUser(Protocol):
    """What users take turns with."""

    @property
    def id(self) -> str: ...
    @property
    def user_id(self) -> str: ...


T = TypeVar("T", bound=OfUser)


@dataclass(frozen=True)
class Rows(engine.CaseSet[R]):
    """The rows of one stage, in the order in which a harness gets them, see `in_turns`.

    Attributes:
        stage: what they are.
        origin: `sample`, or the folder's path.
        counts: `any`: nothing says how many there should be.
        tied: rows with even votes, which are not among these.
        without_votes: how many rows that nobody judged are not among these.
    """

    cases: tuple[R, ...]
    stage: type[R]
    origin: str
    counts: str = "any"
    tied: tuple[R, ...] = ()
    without_votes: int = 0

    @property
    def even(self) -> int:
        """How many rows with even votes are not among these."""
        return len(self.tied)

    @property
    def cell_order(self) -> tuple[str, ...]:
        return self.stage.cells

    @property
    def source(self) -> str:
        return self.origin

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of the rows of this stage, in whatever order their file has them."""
        return digest_of(sorted(row.digest for row in self.cases))

    @property
    def demonstration(self) -> bool:
        return self.origin == SAMPLE


def columns(cells: Collection[str]) -> dict[str, list[str]]:
    """The columns of a table: each cell where there are several, and all of them."""
    return {**({cell: [cell] for cell in cells} if len(cells) > 1 else {}), **({"total": list(cells)} if cells else {})}


def with_majority(found: Rows[J]) -> Rows[J]:
    """The rows that a label can be scored against: those of even votes are kept apart.

    Raises:
        DataError: there are none.
    """
    kept = tuple(row for row in found if row.majority is not None)
    return _some(replace(found, cases=kept, tied=tuple(row for row in found if row.majority is None)))


def with_votes(found: Rows[Response]) -> Rows[Response]:
    """The rows that a rating can be scored against.

    Raises:
        DataError: there are none.
    """
    kept = tuple(row for row in found if row.votes)
    return _some(replace(found, cases=kept, without_votes=len(found) - len(kept)))


def _some(judged: Rows[R]) -> Rows[R]:
    if not judged.cases:
        raise DataError(
            f"{judged.origin}: found no row of {file_name(judged.stage)} to score ({judged.without_votes:,} without votes, "
            f"{judged.even:,} with even votes), expected rows that people judged. Add votes to the rows, or run other tasks."
        )
    return judged


def load(stage: type[R], data: str | os.PathLike[str] | None = None) -> Rows[R]:
    """The rows of a stage.

    Args:
        stage: Extraction, Relevance or Response.
        data: a folder, or `sample`, which was written for this project. None reads RECENTER_DATA.

    Raises:
        DataError: there is no such folder or file, or it is broken.
    """
    root, origin = locate(data)
    path = root / file_name(stage)
    if not path.is_file():
        there = [file_name(one) for one in present(root)]
        raise DataError(
            f"{path}: no such file, so there are no {stage.stage} rows (found: {', '.join(there) or 'none of the three files'}). "
            "Add it, or run only tasks whose file is there."
        )
    lines: dict[str, int] = {}
    found = []
    for line, fields in rows(path):
        where = f"{path}, line {line}"
        row = parse(stage, fields, where)
        if row.id in lines:
            raise broken(where, f"id = {short(row.id)}, which line {lines[row.id]} has", "an id of its own")
        lines[row.id] = line
        found.append(row)
    return Rows(tuple(in_turns(found)), stage, origin)


def locate(data: str | os.PathLike[str] | None = None) -> tuple[Path, str]:
    """(the folder that `data` names, what a signature prints), see `load`.

    Raises:
        DataError: there is no such folder, or none is named.
    """
    name = (os.fspath(data) if data is not None else os.environ.get(ENVIRONMENT_VARIABLE, "")).strip()
    if name == SAMPLE:
        return Path(__file__).with_name(SAMPLE), SAMPLE
    what_to_do = (
        f"Set {ENVIRONMENT_VARIABLE} (or data=) to a folder with any of {', '.join(map(file_name, STAGES))}, or to {SAMPLE!r}; "
        "`personafeedback import-annotations` makes such a folder from the authors' files."
    )
    if not name:
        raise DataError(f"No data are named, and there are none to download. {what_to_do}")
    if (folder := folders.find(name)) is not None:
        return folder, str(folder.resolve())
    raise DataError(f"There is no folder {short(name)}{folders.looked(name)}. {what_to_do}")


def present(root: Path) -> list[type[JudgedRow]]:
    """The stages that a folder has a file for."""
    return [stage for stage in STAGES if (root / file_name(stage)).is_file()]


def file_name(stage: type[JudgedRow]) -> str:
    return f"{stage.stage}.jsonl"


def in_turns(found: Iterable[T]) -> list[T]:
    """One row (or document) of every user, then a second one of every user that has more, and so on.

    Users, and the rows of each, are in the order of the digests of their ids: the same for every order of the file, and not
    prompt by prompt, so that the first N rows are spread over users and their prompts.
    """
    by_user: dict[str, list[T]] = {}
    for row in found:
        by_user.setdefault(row.user_id, []).append(row)
    places = [
        (turn, digest_of((user,)), user, row)
        for user, own in by_user.items()
        for turn, row in enumerate(sorted(own, key=lambda row: (digest_of((row.id,)), row.id)))
    ]
    return [row for *_, row in sorted(places, key=lambda place: place[:3])]
