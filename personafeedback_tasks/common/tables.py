"""Tables that people edit: read from any spreadsheet's export, written as one that any spreadsheet opens."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .errors import DataError
from .records import read, short, short_list

_SEPARATORS = ",;\t"  # spreadsheets write the one of their country
_FORMULA = re.compile(r"(?![-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?\Z)[=+\-@]")  # its beginning; a number is none


def rows(
    path: Path, columns: Sequence[str], needed: Sequence[str], raw: bytes | None = None
) -> list[tuple[str, dict[str, str]]]:
    """(where, column -> value) of every line of a CSV that is not blank, in order. Values have no spaces around them.

    Args:
        columns: those that are read, in any case of letters. Values of others, a team's notes, come as they are.
        raw: the content of the file, if it was read before.

    Raises:
        DataError: it is no CSV, lacks a column that is needed, or has one that looks like a wanted one that is absent.
    """
    try:
        text = (read(path) if raw is None else raw).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: found bytes that are no UTF-8, expected a CSV in UTF-8. Save it as `CSV UTF-8`."
        ) from error
    separator = max(_SEPARATORS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    if re.match("sep=[,;\t]\r?\n", text):  # a line of Excel's before the header, which names the separator
        next(reader)
    try:
        (begin, header), *lines = [(reader.line_num, [value.strip() for value in values]) for values in reader] or [
            (1, [])
        ]
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: found {error}, expected a CSV. Export it again.") from error
    known = {name.casefold(): name for name in [*columns, *needed]}
    names = [known.get(name.casefold(), name) for name in header]
    for name in needed:
        if names.count(name) != 1:
            raise DataError(
                f"{path}, line {begin}: found the columns {short_list(names) or 'none'}, expected one {name!r}. Add "
                "it, or pass a CSV with a header."
            )
    absent = [name for name in columns if name not in names]
    for name in names if absent else ():
        if name not in known.values() and (near := get_close_matches(name.casefold(), absent, n=1, cutoff=0.7)):
            raise DataError(
                f"{path}, line {begin}: found the column {short(name)}, which nothing reads, and no column "
                f"{near[0]!r}. Rename it, or if it has notes of yours, add an empty column {near[0]!r}."
            )
    found = []
    for number, values in filter(lambda line: any(line[1]), lines):
        if len(values) > len(names):
            raise DataError(
                f"{path}, line {number}: found {len(values)} values, expected {len(names)}: {short(values[-1])} is "
                "under no column. Quote texts that have a separator in them."
            )
        found.append((f"{path}, line {number}", dict(zip(names, values, strict=False))))
    return found


def text(columns: Sequence[str], lines: Iterable[Mapping[str, Any]]) -> str:
    """A table's file. It begins with the mark by which spreadsheets know UTF-8. A value that a line lacks is empty."""
    return "\ufeff" + lines_text([columns, *([line.get(name, "") for name in columns] for line in lines)])


def lines_text(lines: Iterable[Iterable[object]]) -> str:
    """Lines of values as CSV. No spreadsheet takes a text among them for a formula."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([*map(cell, line)] for line in lines)
    return out.getvalue()


def cell(value: object) -> object:
    """A value that no spreadsheet takes for a formula. `rows` leaves the space out again."""
    return f" {value}" if isinstance(value, str) and _FORMULA.match(value) else value
