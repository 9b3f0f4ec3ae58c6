"""Tables that people edit: read from any spreadsheet's export, written as one that any spreadsheet opens."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import foreign
from .errors import DataError
from .records import read, short, short_list

_SEPARATORS = (",", ";", "\t")
"""Spreadsheets write the one of their country."""


def rows(path: Path, columns: Sequence[str] | None, needed: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """(where, column -> value) of every line of a CSV that is not blank, in order. Values have no spaces around them.

    Args:
        columns: those that are wanted, in any case of letters; all if None. Others are a team's notes: they are left out.
    """
    lines = _lines(path)
    begin, written = next(lines, (1, []))
    known = {name.casefold(): name for name in [*(columns or ()), *needed]}
    names = [known.get(name.strip().casefold(), name.strip()) for name in written]
    for name in needed:
        if names.count(name) != 1:
            raise DataError(
                f"{path}, line {begin}: found the columns {short_list(names) or 'none'}, expected one {name!r}. Add it, or pass a CSV "
                "with a header."
            )
    found: list[tuple[str, dict[str, str]]] = []
    for number, values in lines:
        if not any(value.strip() for value in values):
            continue
        where = f"{path}, line {number}"
        if len(values) > len(names):
            raise DataError(
                f"{where}: found {len(values)} values, expected {len(names)}: {short(values[-1])} is under no column. Quote texts "
                "that have a separator in them."
            )
        row = dict(zip(names, values, strict=False))
        found.append(
            (where, {name: value.strip() for name, value in row.items() if columns is None or name in columns})
        )
    return found


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    # (number of the line, its values); the header first.
    try:
        text = read(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: found bytes that are no UTF-8, expected a CSV in UTF-8. Save it as `CSV UTF-8`."
        ) from error
    separator = max(_SEPARATORS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for values in reader:
            yield reader.line_num, values
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: found {error}, expected a CSV. Export it again.") from error


def text(columns: Sequence[str], lines: Iterable[Mapping[str, Any]]) -> str:
    """A table's file. It begins with the mark by which spreadsheets know UTF-8. A value that a line lacks is empty."""
    return "\ufeff" + lines_text([columns, *([line.get(name, "") for name in columns] for line in lines)])


def lines_text(lines: Iterable[Iterable[object]]) -> str:
    """Lines of values as CSV. No spreadsheet takes a text among them for a formula."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(
        [foreign.spreadsheet(value) if isinstance(value, str) else value for value in line] for line in lines
    )
    return out.getvalue()
