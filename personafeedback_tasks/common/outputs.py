"""JSON and JSON Lines as this package writes them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

SCHEMA = 1
"""The version of the keys and units of all outputs; a program that reads them checks it."""


def output_text(document: dict[str, Any]) -> str:
    """What a command writes as JSON, see `outputs.schema.json`."""
    return json_text({"schema": SCHEMA, **document})


def json_text(document: dict[str, Any]) -> str:
    """A document as the commands write it: the same content, the same bytes. nan, which is no JSON, is refused."""
    # Chinese stays readable. What is not printable is escaped: it could act on a terminal, and half a surrogate pair is
    # no UTF-8.
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
    if isinstance(value, msgspec.Struct):
        return {name: jsonable(getattr(value, name)) for name in value.__struct_fields__}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in fields(value) if field.repr}
    return value
