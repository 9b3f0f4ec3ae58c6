"""Rows of existing pairs, from a CSV, JSON or JSONL file, a folder of such files or of `datasets`, or the Hub.

A field of a row is read strictly, as a text, a user's id, a category or a profile.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from ...common import tables
from ...common.errors import DataError, require
from ...common.records import broken, lenient, load_json, rows, short, short_list
from ...personafeedback.cells import CATEGORIES

_TABLES = (".csv", ".tsv")
_TYPES = (*_TABLES, ".json", ".jsonl")
_NAMED = ".csv, .tsv, .json or .jsonl"
_OF_DATASETS = ("dataset_dict.json", "state.json")
"""Files of a folder that `datasets` saved, one of which it has."""

SourceRow = tuple[str, Mapping[str, Any]]
"""(its place, for errors; the row)."""


def read_rows(source: str, split: str) -> Iterator[SourceRow]:
    """The rows of a source.

    Args:
        source: a path, or a Hub id with an optional `@revision`.
        split: of a dataset with several.

    Raises:
        DataError: it is missing or broken.
        ModuleNotFoundError: `datasets` is needed and not installed.
    """
    path = Path(source).expanduser()
    if path.is_file():
        return _file(path)
    if path.is_dir() and not any((path / name).is_file() for name in _OF_DATASETS):
        # By stem, so that `name.json` is before `name copy.json`.
        files = sorted((file for file in path.iterdir() if file.suffix.lower() in _TYPES), key=lambda file: file.stem)
        if not files:
            raise DataError(
                f"{path}: found no {_NAMED} file in this folder, expected some. Pass the folder that holds the rows."
            )
        return chain.from_iterable(map(_file, files))
    if path.suffix.lower() in _TYPES and not path.is_dir():
        raise DataError(f"{path}: found no such file, expected one with rows. Check the path.")
    return _dataset(source, path, split)


def _file(path: Path) -> Iterator[SourceRow]:
    kind = path.suffix.lower()
    if kind == ".jsonl":
        return ((f"{path}, line {number}", row) for number, row in rows(path, any_text=True))
    if kind == ".json":
        return _json(path)
    if kind in _TABLES:
        return iter(tables.rows(path, None, []))
    raise DataError(f"{path}: found a file of type {kind or 'none'}, expected {_NAMED}. Convert it, or rename it.")


def _json(path: Path) -> Iterator[SourceRow]:
    document = load_json(path, "a list of objects", "Export it again.")
    if not isinstance(document, list):
        raise DataError(
            f"{path}: found {short(document)}, expected a list of objects. Export it as such, or as JSON Lines."
        )
    for number, row in enumerate(document, start=1):
        if not isinstance(row, dict):
            raise broken(f"{path}, element {number}", short(row), "an object")
        yield f"{path}, element {number}", row


def _dataset(source: str, path: Path, split: str) -> Iterator[SourceRow]:
    require("datasets", extra="lm-eval")
    import datasets

    name, _, revision = source.partition("@")
    try:
        if path.is_dir():
            dataset = datasets.load_from_disk(os.fspath(path))
            if isinstance(dataset, datasets.DatasetDict):
                dataset = dataset[split]
        else:
            dataset = datasets.load_dataset(name, split=split, revision=revision or None)
    except Exception as error:  # `datasets` and the Hub's client have dozens of unrelated classes
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{source}: found no dataset there, split {split!r} ({type(error).__name__}: {why}). Pass a file, a folder of files or "
            "one that datasets.save_to_disk wrote, or a Hub id; and --split, if it has another one."
        ) from error
    for number, row in enumerate(dataset, start=1):
        yield f"{source}, row {number}", row


LONGEST_USER = 200
"""Bytes of a user_id, which names a file."""


def _value(row: Mapping[str, Any], key: str, where: str) -> Any:
    # `a.b.0` goes into objects and lists, unless a row has that very key.
    if key in row:
        return row[key]
    value: Any = row
    for part in key.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, (list, tuple)) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise broken(where, f"no {key!r} (keys: {short_list(row) or 'none'})", f"{key!r}, as --map says")
    return value


def text(row: Mapping[str, Any], key: str, where: str) -> str:
    value = _value(row, key, where)
    if not isinstance(value, str) or not value.strip():
        raise broken(where, f"{key} = {short(value)}", "a text")
    return value.strip()


def user(row: Mapping[str, Any], key: str, where: str) -> str:
    value = _value(row, key, where)
    name = str(value) if type(value) is int else text(row, key, where)
    if not name.isprintable() or "/" in name or name.startswith(".") or len(name.encode()) > LONGEST_USER:
        raise broken(where, f"{key} = {short(name)}", f"the name of a file, of at most {LONGEST_USER} bytes")
    return name


def category(row: Mapping[str, Any], key: str, where: str) -> str:
    value = text(row, key, where)
    if value not in CATEGORIES:
        raise broken(where, f"{key} = {short(value)}", " or ".join(CATEGORIES))
    return value


def profile(row: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    """A profile as in a release: objects are unchanged (also as JSON text, in a CSV); a text or a list is the value of `Profile`."""
    value = _value(row, key, where)
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError):  # a text may begin so, too
            value = lenient(value)
    described: dict[str, Any] = {}
    if isinstance(value, Mapping):
        described = dict(value)
    elif isinstance(value, str) and value.strip():
        described = {"Profile": value.strip()}
    elif isinstance(value, (list, tuple)) and value:
        described = {"Profile": list(value)}
    if not described:
        raise broken(where, f"{key} = {short(value)}", "a text, an object or a list that describes the user")
    try:
        as_text(described)
    except (TypeError, ValueError) as error:
        raise broken(
            where, f"{key} with a value that is no JSON ({error})", "texts, numbers, lists and objects"
        ) from error
    return described


def as_text(profile: Mapping[str, Any]) -> str:
    """Canonical JSON of a profile. Raises ValueError or TypeError for values that JSON lacks."""
    return json.dumps(profile, sort_keys=True, ensure_ascii=False, allow_nan=False)
