"""One field of a source's row, strictly: a text, a user's id, a category, a profile."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ...common.records import broken, lenient, short, short_list
from ...personafeedback.cells import CATEGORIES

LONGEST_USER = 200
"""Bytes of a user_id, which names a file."""


def _value(row: Mapping[str, Any], key: str, where: str) -> Any:
    """What a key names; `a.b.0` goes into objects and lists, unless a row has that very key."""
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
    """A profile as the release has one: an object stays as it is; a text or a list is the value of `Profile`.

    A text that is a JSON object or list, as in a CSV, is read as that.
    """
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
    """The same text for the same profile. Raises ValueError or TypeError for what JSON has not."""
    return json.dumps(profile, sort_keys=True, ensure_ascii=False, allow_nan=False)
