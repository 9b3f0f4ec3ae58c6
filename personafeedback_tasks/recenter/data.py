"""Rows of a stage from a folder of judgments: files of one JSON object per line, read strictly."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

from ..common import folders, records
from ..common.errors import DataError
from ..common.folders import SAMPLE
from ..common.records import broken, short
from ..core.cases import Case, CaseSet, digest_of
from .rows import STAGES, Conversation, R, Relevance, S

ENVIRONMENT_VARIABLE = "RECENTER_DATA"

AnyCase = TypeVar("AnyCase", bound=Case)


@dataclass(frozen=True)
class Rows(CaseSet[S]):
    """The rows of one stage, in the order of `in_turns`."""

    cases: tuple[S, ...]
    stage: type[S]
    source: str = ""
    counts: str = "any"  # no number of rows is expected
    unscored: tuple[S, ...] = ()  # rows without votes or with even ones, which are not among `cases`

    @property
    def cell_order(self) -> tuple[str, ...]:
        return self.stage.cells

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of the rows, whatever their order in the file."""
        return digest_of(sorted(row.digest for row in self.cases))


def load(stage: type[S], data: str | os.PathLike[str] | None = None) -> Rows[S]:
    """The rows of a stage from a folder or `sample`, written for this project. None reads RECENTER_DATA.

    Raises:
        DataError: there is no such folder or file, or a row is broken or has the id of another.
    """
    folder, source = located(data, [stage.file] if stage is Conversation else [known.file for known in STAGES])
    path = folder / stage.file
    if not path.is_file():
        raise DataError(
            f"{path}: found no such file, expected {stage.stage} rows. Add it, or run only tasks whose file is there."
        )
    return Rows(tuple(in_turns(each_once(path, stage.parse))), stage, source)


def with_judgment(rows: Rows[R]) -> Rows[R]:
    """The rows that can be scored; the others are kept in `unscored`. Raises DataError if none can be."""
    asked = tuple(row for row in rows if row.judgment is not None)
    if not asked:
        raise DataError(
            f"{rows.source}: found no row of {rows.stage.file} to score (rows: {len(rows):,}, without votes or with "
            "even ones), expected rows that people judged. Add votes to the rows, or run other tasks."
        )
    return replace(rows, cases=asked, unscored=tuple(row for row in rows if row.judgment is None))


def located(data: str | os.PathLike[str] | None, names: Sequence[str]) -> tuple[Path, str]:
    """(the folder that `data` names, its name in a signature); errors list `names`, the files expected there."""
    return folders.located(
        data, ENVIRONMENT_VARIABLE, Path(__file__).with_name(SAMPLE),
        f"Set {ENVIRONMENT_VARIABLE} (or data=) to a folder with any of {', '.join(names)}, or to {SAMPLE!r}; "
        "`personafeedback recenter import` makes such a folder from the authors' files.",
    )  # fmt: skip


def each_once(path: Path, parsed: Callable[[dict[str, Any], str], Any]) -> list[Any]:
    """The rows of a file, in its order; `parsed` makes one of a line and its place. DataError if an id repeats."""
    lines: dict[str, int] = {}
    rows = []
    for line, values in records.rows(path):
        where = f"{path}, line {line}"
        row = parsed(values, where)
        if row.id in lines:
            raise broken(where, f"id = {short(row.id)}, which line {lines[row.id]} has", "an id of its own")
        lines[row.id] = line
        rows.append(row)
    return rows


def each_if_there(path: Path, parsed: Callable[[dict[str, Any], str], Any]) -> list[Any]:
    """The rows of a file with unique ids; none without the file."""
    return each_once(path, parsed) if path.is_file() else []


def in_turns(cases: Iterable[AnyCase]) -> list[AnyCase]:
    """One row (or document) of every user, then a second one of every user that has more, and so on.

    Users and their rows are in the order of their ids' digests: the first N rows do not depend on the file's
    order and are spread over users and prompts.
    """
    by_user: dict[str, list[AnyCase]] = {}
    for case in cases:
        by_user.setdefault(case.user_id, []).append(case)
    for own in by_user.values():
        own.sort(key=lambda case: (digest_of((case.id,)), case.id))
    users = sorted(by_user, key=lambda user: (digest_of((user,)), user))
    rounds = zip_longest(*(by_user[user] for user in users))
    return [case for turn in rounds for case in turn if case is not None]


SEED = 1
"""Of the order of the attributes of a user."""


def profiles(rows: Iterable[Relevance]) -> list[list[Relevance]]:
    """The rows of each user and prompt, in a seeded order that reveals nothing of people's judgments."""
    together: dict[tuple[str, str], list[Relevance]] = {}
    for row in rows:
        together.setdefault((row.user_id, row.prompt), []).append(row)
    return [
        sorted(profile, key=lambda row: (digest_of((SEED, row.attribute, row.id)), row.id))
        for profile in together.values()
    ]
