"""Rows of pairs that exist somewhere: a CSV, JSON or JSONL file, a folder that `datasets` saved, or a dataset on the Hub."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..common.errors import DataError, require
from ..common.strict_json import broken, loads, read, reason, rows, short

Row = tuple[str, Mapping[str, Any]]
"""(where it stands, for errors; the row)."""


def read_rows(source: str, split: str) -> Iterator[Row]:
    """The rows of a source.

    Args:
        source: a path, or a Hub id with an optional `@revision`.
        split: of a dataset with several.

    Raises:
        DataError: there is no such thing, or it is broken.
        ModuleNotFoundError: `datasets` is not installed and is needed.
    """
    path = Path(source).expanduser()
    if path.is_file():
        kind = path.suffix.lower()
        if kind == ".jsonl":
            return ((f"{path}, line {number}", row) for number, row in rows(path, any_text=True))
        if kind == ".json":
            return _json(path)
        if kind in (".csv", ".tsv"):
            return _csv(path)
        raise DataError(
            f"{path}: found a file of type {kind or 'none'}, expected .csv, .tsv, .json or .jsonl. Convert it, or rename it."
        )
    return _dataset(source, path, split)


def _csv(path: Path) -> Iterator[Row]:
    try:
        text = read(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: found bytes that are no UTF-8, expected a table in UTF-8. Save it as `CSV UTF-8`."
        ) from error
    header = text.partition("\n")[0]
    reader = csv.DictReader(
        io.StringIO(text, newline=""), delimiter=max((",", ";", "\t"), key=header.count), strict=True
    )
    try:
        for row in reader:
            if None in row:
                raise DataError(
                    f"{path}, line {reader.line_num}: found more values than columns, expected as many. Quote texts with separators."
                )
            yield f"{path}, line {reader.line_num}", row
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: found {error}, expected a CSV. Export it again.") from error


def _json(path: Path) -> Iterator[Row]:
    try:
        document = loads(read(path).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: found {reason(error)}, expected a list of objects. Export it again.") from error
    if not isinstance(document, list):
        raise DataError(
            f"{path}: found {short(document)}, expected a list of objects. Export it as such, or as JSON Lines."
        )
    for number, row in enumerate(document, start=1):
        if not isinstance(row, dict):
            raise broken(f"{path}, element {number}", short(row), "an object")
        yield f"{path}, element {number}", row


def _dataset(source: str, path: Path, split: str) -> Iterator[Row]:
    require("datasets", extra="lm-eval")
    import datasets

    name, _, revision = source.partition("@")
    try:
        if path.is_dir():
            found = datasets.load_from_disk(os.fspath(path))
            if isinstance(found, datasets.DatasetDict):
                found = found[split]
        else:
            found = datasets.load_dataset(name, split=split, revision=revision or None)
    except Exception as error:  # `datasets` and the Hub's client have dozens of unrelated classes
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{source}: found no dataset there, split {split!r} ({type(error).__name__}: {said}). Pass a file, a folder that "
            "datasets.save_to_disk wrote, or a Hub id; and --split, if it has another one."
        ) from error
    for number, row in enumerate(found, start=1):
        yield f"{source}, row {number}", row
