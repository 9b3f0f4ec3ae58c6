"""A folder of files with one type of row each: CSV tables that people edit, and JSON Lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, TypeVar

import msgspec

from . import tables
from .errors import DataError
from .files import Content, locked, write_all
from .outputs import json_lines
from .records import decoded
from .records import rows as json_rows


class FileRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of a file."""

    file: ClassVar[str]  # path in its folder: a table that people edit (.csv), or JSON Lines
    key: ClassVar[tuple[str, ...]] = ("id",)  # fields that no two rows share; empty if rows may repeat


Changes: TypeAlias = Mapping[type[FileRow] | Path, Iterable[Any]]
"""Kind of rows, or path -> the rows or the content that replaces the file's, in the order in which files change."""

R = TypeVar("R", bound=FileRow)
T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


def table(
    path: Path, kind: type[S], lax: Callable[[type, Any], Any] | None = None, any_text: bool = False
) -> Iterator[tuple[str, S]]:
    """(place, row) of every line of JSON Lines (`.jsonl`), or else of a CSV. Raises DataError for a broken line.

    Args:
        lax: as in `records.decoded`.
        any_text: as in `records.rows`.
    """
    lines: Iterable[tuple[str, Mapping[str, Any]]]
    if path.suffix.lower() == ".jsonl":
        lines = ((f"{path}, line {number}", row) for number, row in json_rows(path, any_text))
    else:
        lines = tables.rows(path, columns(kind), required(kind))
    for where, line in lines:
        named = {name: value for name, value in line.items() if name or value}  # without a spreadsheet's empty columns
        yield where, decoded(where, named, kind, "Fix it.", lax)


def columns(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a row, in the order of its file."""
    return kind.__struct_fields__


def required(kind: type[msgspec.Struct]) -> list[str]:
    """The fields that a row cannot leave out."""
    return [field.name for field in msgspec.structs.fields(kind) if field.required]


@dataclass(frozen=True)
class RowFolder:
    """A folder with such files.

    Attributes:
        known: path -> (state of the file, what was made of it), so that a command reads each file once.
    """

    guard: ClassVar[str]  # name of the file by which commands keep each other out

    root: Path
    known: dict[Path, tuple[object, Any]] = field(default_factory=dict, repr=False, compare=False, kw_only=True)

    def locked(self) -> AbstractContextManager[None]:
        """Keep other commands out of the folder."""
        return locked(self.root / self.guard)

    def path(self, kind: type[FileRow]) -> Path:
        return self.root / kind.file

    def has(self, kind: type[FileRow]) -> bool:
        return os.path.lexists(self.path(kind))

    def once(self, path: Path, load: Callable[[Path], T]) -> T:
        """What is made of a file. It is read again only if it changed."""
        state = _state(path)
        if path not in self.known or self.known[path][0] != state:
            self.known[path] = state, load(path)
        made: T = self.known[path][1]
        return made

    def read(self, kind: type[R]) -> list[R]:
        """The rows of a file, in its order; none if there is no such file, or it is empty."""
        return list(self.once(self.path(kind), lambda path: _read(kind, path))) if self.has(kind) else []

    def by_id(self, kind: type[R]) -> dict[str, R]:
        """The rows of a file with one key, by it."""
        (key,) = kind.key
        return {getattr(row, key): row for row in self.read(kind)}

    def write(self, kind: type[R], rows: Iterable[R]) -> None:
        """Replace one file as a whole."""
        self.commit({kind: rows})

    def commit(self, changes: Changes) -> None:
        """Replace files as a whole, once all of them are on the disk."""
        contents, new = dict[Path, Content](), dict[Path, list[Any]]()
        for place, content in changes.items():
            if isinstance(place, Path):
                contents[place] = content
            else:
                new[self.path(place)] = list(content)
                contents[self.path(place)] = _content(place, new[self.path(place)])
        write_all(contents)
        for path, rows in new.items():
            self.known[path] = _state(path), rows


def _read(kind: type[R], path: Path) -> list[R]:
    if path.is_file() and not path.stat().st_size and path.suffix != ".csv":
        return []
    rows, seen = list[R](), dict[tuple[Any, ...], str]()
    for where, row in table(path, kind, any_text=True):
        value = tuple(getattr(row, name) for name in kind.key)
        if value and value in seen:
            raise DataError(
                f"{where}: found the {' and '.join(kind.key)} {' and '.join(map(repr, value))} of {seen[value]} "
                "again, expected each once. Remove one."
            )
        seen[value] = where
        rows.append(row)
    return rows


def _state(path: Path) -> object:
    found = path.stat() if path.is_file() else None
    return found and (found.st_mtime_ns, found.st_size, found.st_ino)


def _content(kind: type[FileRow], rows: Iterable[FileRow]) -> Content:
    dicts = map(msgspec.structs.asdict, rows)
    return tables.text(columns(kind), dicts) if kind.file.endswith(".csv") else json_lines(dicts)
