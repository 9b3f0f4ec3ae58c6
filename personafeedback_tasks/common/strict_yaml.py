"""YAML files that users write. Strict: one mapping of single values, each key once, no aliases, and only values on which all readers agree.

YAML 1.1, which most readers in Python follow, takes `no` for false, 1:30 for 90, 017 for 15 and 2026-01-02 for a date. Here these are texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from . import limits
from .errors import DataError
from .strict_json import cut, short

LARGEST = 100_000
"""Bytes of a file."""

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile("[-+]?(?:0|[1-9][0-9]{0,29})")
_DECIMAL = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][-+]?[0-9]{1,2})?")
_OTHER_NUMBER = re.compile("[-+]?(?:0[box][0-9a-fA-F_]{1,30}|[0-9][0-9_]{0,29}(?::[0-9.]{1,30}){0,3})")


@dataclass(frozen=True)
class Scalar:
    """A single value of a file.

    Attributes:
        written: as in the file, without quotes.
        quoted: whether it had quotes, or was a block of text.
    """

    where: str
    written: str
    quoted: bool
    value: str | int | float | bool | None

    @property
    def shown(self) -> str:
        """For errors, with the reason why something that looks like a number is none."""
        if not isinstance(self.value, str):
            return cut(self.written) or "nothing"
        if self.quoted:
            return f"{short(self.value)}{'' if isinstance(_plain(self.value), str | None) else ' in quotes'}"
        if not _OTHER_NUMBER.fullmatch(self.value):
            return short(self.value)
        return f"{short(self.value)} (a number has decimal digits, and no leading zeros, underscores, colons or prefix)"


def load(path: Path) -> dict[str, Scalar]:
    """Key -> value of a file; none if it is empty.

    Raises:
        DataError: it is something else, or larger than LARGEST. The message names the line and the key.
        OSError: it cannot be read.
    """
    try:
        raw = limits.read(path)
        if len(raw) > LARGEST:
            raise limits.LimitError(f"{len(raw):,} bytes, more than {LARGEST:,}")
        return _mapping(path, yaml.parse(raw.decode("utf-8-sig"), Loader=yaml.SafeLoader))
    except (limits.LimitError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path}: found {error}, expected a small file in UTF-8. Check that it is the right one."
        ) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        where = f"{path}, line {mark.line + 1}" if mark else path
        raise DataError(f"{where}: found invalid YAML ({problem}), expected one mapping. Fix it.") from error


def argument(text: str) -> Any:
    """The value of an option -T or -M of a command, as Inspect reads it: YAML 1.1.

    Raises:
        ValueError: it is none.
    """
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{short(text)} is not YAML") from error


def _mapping(path: Path, events: Iterable[yaml.Event]) -> dict[str, Scalar]:
    """Of the events of a parser, which goes no further than the first that has no place here: nothing is nested or unfolded."""
    found: dict[str, Scalar] = {}
    key: str | None = None
    begun = False
    for event in events:
        line = event.start_mark.line + 1 if event.start_mark else 1
        where = f"{path}, line {line}"
        place = f" as {short(key)}" if key is not None else ""
        if isinstance(event, yaml.DocumentStartEvent) and begun:
            raise DataError(f"{where}: found a second document, expected one mapping. Remove it.")
        if not isinstance(event, yaml.NodeEvent):
            continue
        if event.anchor or getattr(event, "tag", None):
            raise DataError(
                f"{where}: found an anchor, an alias or a tag{place}, expected a plain value. Write it out."
            )
        if not begun:
            begun = isinstance(event, yaml.MappingStartEvent)
            if not begun and getattr(event, "value", True):
                raise DataError(f"{where}: found no key, expected one mapping of keys to single values. Fix it.")
        elif not isinstance(event, yaml.ScalarEvent):
            raise DataError(f"{where}: found a list or a mapping{place}, expected a single value. Fix it.")
        elif key is not None:
            quoted = event.style is not None
            found[key] = Scalar(where, event.value, quoted, event.value if quoted else _plain(event.value))
            key = None
        elif event.value in found:
            raise DataError(
                f"{where}: found the key {short(event.value)} again, expected it once (first: {found[event.value].where}). Remove one."
            )
        else:
            key = event.value
    return found


def _plain(text: str) -> str | int | float | bool | None:
    """The meaning of a value without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    return int(text) if _INTEGER.fullmatch(text) else float(text) if _DECIMAL.fullmatch(text) else text
