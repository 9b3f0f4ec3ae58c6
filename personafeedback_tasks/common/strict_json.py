"""JSON that strangers wrote, within the limits of `limits`. Strict: whatever is broken raises DataError with the file and the line,
nothing is skipped or repaired. `lenient` alone is as lenient as the harnesses."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import jsonlines

from . import limits
from .errors import DataError


def rows(path: Path, any_text: bool = False) -> Iterable[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, row). Lines end at LF alone: U+2028 inside a text is no line break.

    Args:
        any_text: NUL and lone surrogates are no fault: a model wrote the texts.
    """
    raw = read(path)
    if not raw.strip():
        raise DataError(f"{path}: the file is empty, expected one JSON object per line. Get a complete copy.")
    lines = raw.removesuffix(b"\n").split(b"\n")
    with jsonlines.Reader(lines, loads=_loads if any_text else loads) as reader:
        for number, line in enumerate(lines, start=1):
            where = f"{path}, line {number}"
            refuse_marks(line, where)  # the reader would drop them
            try:
                row = reader.read(type=dict)
            except jsonlines.InvalidLineError as error:
                raise broken(where, reason(error.__cause__ or "not a JSON object"), "one JSON object") from error
            yield number, row


def read(path: Path) -> bytes:
    """A file as a whole.

    Raises:
        DataError: it cannot be read, or is too large.
    """
    try:
        return limits.read(path)
    except OSError as error:
        raise DataError(f"{path}: could not be read ({error}). Check the path and its permissions.") from error
    except limits.LimitError as error:
        raise DataError(f"{path}: found {error}. Check that it is the right file, or split it.") from error


def refuse_marks(raw: bytes, where: str) -> None:
    for mark, name in ((b"\xef\xbb\xbf", "a byte order mark"), (b"\x1e", "a record separator")):
        if raw.startswith(mark):
            raise broken(where, name, "UTF-8 without one")


def loads(text: str | bytes) -> Any:
    """`json.loads` that refuses what it would otherwise repair: NaN, repeated keys, NUL, lone surrogates."""
    value = _loads(text)
    if "\\u" in str(text):  # only an escape brings either of them past the UTF-8 decoder and the JSON parser
        for string in _strings(value):
            if "\0" in string:
                raise ValueError("a NUL character in a string")
            if any("\ud800" <= character <= "\udfff" for character in string):
                raise ValueError("a lone surrogate in a string")
    return value


def lenient(text: str | bytes) -> Any:
    """JSON as the harnesses write it: with NaN.

    Raises:
        ValueError: it is broken, or beyond a limit.
    """
    limits.check_json(text)
    return json.loads(text)


def _loads(text: str | bytes) -> Any:
    limits.check_json(text)
    return json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def leaves(value: object) -> Iterator[Any]:
    """Every value in parsed JSON that is no object and no list, in order."""
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)
    else:
        yield value


def _finite(number: str) -> float:
    if math.isinf(float(number)):
        raise ValueError(f"the number {cut(number)}, which is too large")
    return float(number)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {short(twice)} twice in one object")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name}, which is not valid JSON")


def reason(error: object) -> object:
    """The parser's message without its own line number, which would contradict the file's."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} (column {error.colno})"
    return error


def broken(where: str, found: object, expected: str) -> DataError:
    return DataError(f"{where}: found {found}, expected {expected}. Fix this record or download the data again.")


def short(value: object) -> str:
    return cut(ascii(value))


def short_list(values: Iterable[object]) -> str:
    return cut(", ".join(map(short, values)), 200)


def cut(text: str, length: int = 60) -> str:
    """A broken file can contain a megabyte where a word should be; a message shows its beginning."""
    return text if len(text) <= length else f"{text[: length - 3]}..."


def json_text(document: dict[str, Any]) -> str:
    """A document as the commands write it: the same content, the same bytes. nan, which JSON does not have, is refused.

    Chinese stays readable. What is not printable is escaped: it could act on a terminal, and half a surrogate pair is no UTF-8.
    """
    text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False) + "\n"
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)


def json_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Rows as lines of JSON."""
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def jsonable(value: Any) -> Any:
    """nan, which JSON does not have, becomes None, and a record a dictionary of the fields that its repr has."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, Mapping):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in fields(value) if field.repr}
    return value
