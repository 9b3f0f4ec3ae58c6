"""A folder of files with one type of row each: CSV tables that people edit, and JSON Lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

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


R = TypeVar("R", bound=FileRow)


def columns(kind: type[FileRow]) -> tuple[str, ...]:
    """The fields of a row, in the order of its file."""
    return kind.__struct_fields__


def required(kind: type[FileRow]) -> list[str]:
    """The fields that a row cannot leave out."""
    return [field.name for field in msgspec.structs.fields(kind) if field.required]


class RowFolder:
    """A folder with such files."""

    root: Path
    guard: ClassVar[str]  # name of the file by which commands keep each other out

    def locked(self) -> AbstractContextManager[None]:
        """Keep other commands out of the folder."""
        return locked(self.root / self.guard)

    def path(self, kind: type[FileRow]) -> Path:
        return self.root / kind.file

    def has(self, kind: type[FileRow]) -> bool:
        return os.path.lexists(self.path(kind))

    @cached_property
    def _known(self) -> dict[type[FileRow], tuple[object, list[Any]]]:
        # Which state of its file was read: a command reads each file once.
        return {}

    def read(self, kind: type[R]) -> list[R]:
        """The rows of a file, in its order; none if there is no such file, or it is empty."""
        path = self.path(kind)
        if not os.path.lexists(path):
            return []
        state = self._state(path)
        if state is None or self._known.get(kind, ("",))[0] != state:
            self._known[kind] = state, self._rows(kind, path)
        return list(self._known[kind][1])

    def _state(self, path: Path) -> object:
        found = path.stat() if path.is_file() else None
        return found and (found.st_mtime_ns, found.st_size, found.st_ino)

    def _rows(self, kind: type[R], path: Path) -> list[R]:
        if path.is_file() and not path.stat().st_size and path.suffix != ".csv":
            return []
        lines: Iterable[tuple[str, Mapping[str, Any]]]
        if path.suffix == ".csv":
            lines = tables.rows(path, columns(kind), required(kind))
        else:
            lines = ((f"{path}, line {number}", row) for number, row in json_rows(path, any_text=True))
        rows, seen = [], dict[tuple[Any, ...], str]()
        for where, line in lines:
            row = decoded(where, line, kind, "Fix it.")
            value = tuple(getattr(row, name) for name in kind.key)
            if value and value in seen:
                raise DataError(
                    f"{where}: found the {' and '.join(kind.key)} {' and '.join(map(repr, value))} of {seen[value]} "
                    "again, expected each once. Remove one."
                )
            seen[value] = where
            rows.append(row)
        return rows

    def by_id(self, kind: type[R]) -> dict[str, R]:
        """The rows of a file with one key, by it."""
        (key,) = kind.key
        return {getattr(row, key): row for row in self.read(kind)}

    def write(self, kind: type[R], rows: Iterable[R]) -> None:
        """Replace one file as a whole."""
        self.write_together({kind: rows})

    def write_together(
        self, rows: Mapping[type[FileRow], Iterable[FileRow]], others: Mapping[Path, Content] = {}
    ) -> None:
        """Replace files as a whole, in this order and after the others, once all of them are on the disk."""
        lists = {kind: list(of_kind) for kind, of_kind in rows.items()}
        write_all({**others, **{self.path(kind): self._content(kind, of_kind) for kind, of_kind in lists.items()}})
        for kind, of_kind in lists.items():
            self._known[kind] = self._state(self.path(kind)), of_kind

    def _content(self, kind: type[FileRow], rows: Iterable[FileRow]) -> Content:
        dicts = [msgspec.structs.asdict(row) for row in rows]
        if not kind.file.endswith(".csv"):
            return json_lines(dicts)
        names, (key,) = columns(kind), kind.key
        notes = self._notes(kind, names, key)
        others = dict.fromkeys(column for line in notes.values() for column in line)
        return tables.text([*names, *others], [{**notes.get(row[key], {}), **row} for row in dicts])

    def _notes(self, kind: type[FileRow], names: Sequence[str], key: str) -> dict[str, dict[str, str]]:
        # What a team wrote into columns of its own, which a step that adds lines must not lose.
        if not self.path(kind).is_file():
            return {}
        return {
            getattr(row, key): {name: value for name, value in line.items() if name and name not in names}
            for row, (_, line) in zip(self.read(kind), tables.rows(self.path(kind), None, []), strict=True)
        }
