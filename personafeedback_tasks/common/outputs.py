"""JSON as this package writes it: versioned documents, and a JSON Schema made of their types."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from inspect import cleandoc
from typing import Annotated, Any

import msgspec

SCHEMA = 1
"""The version of the keys and units of all outputs; a program that reads them checks it."""


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """A document that a command writes for programs. Every key is always there; what is undefined is null."""

    schema: Annotated[int, msgspec.Meta(description="the version of keys and units of all outputs")] = SCHEMA


def json_schema(documents: Iterable[type[Output]]) -> dict[str, Any]:
    """The JSON Schema of documents, with each record among its `$defs`. Docstrings and `Meta` say what keys are."""
    _, records = msgspec.json.schema_components(documents, ref_template="#/$defs/{name}")
    for record in records.values():
        _describe(record)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": _nullable(records)}


def described(docstring: str) -> tuple[str, dict[str, str]]:
    """What a record's docstring says of the record; and of each field, under "Attributes:"."""
    about, _, attributes = cleandoc(docstring).partition("Attributes:\n")
    texts = re.findall(r"^ {4}(\w+): ((?:.|\n {8})*)", attributes, re.M)  # further lines are indented more
    return " ".join(about.split()), {name: " ".join(text.split()) for name, text in texts}


def _describe(record: dict[str, Any]) -> None:
    record["description"], texts = described(record.get("description", ""))
    properties = record.get("properties", {})
    for name, entry in properties.items():
        entry.pop("default", None)
        entry["description"] = texts.get(name) or entry.get("description", "")
    record |= {"required": list(properties), "additionalProperties": False}


def _nullable(found: Any) -> Any:
    # an undefined number is null
    if isinstance(found, dict):
        made = {key: _nullable(value) for key, value in found.items()}
        return made | {"type": ["number", "null"]} if made.get("type") == "number" else made
    return [_nullable(one) for one in found] if isinstance(found, list) else found


def json_text(document: object) -> str:
    """A document as the commands write it: the same content, the same bytes."""
    # Chinese stays readable. What is not printable is escaped: it could act on a terminal, and half a surrogate pair is
    # no UTF-8.
    text = json.dumps(jsonable(document), ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False) + "\n"
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)


def json_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Rows as lines of JSON."""
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def jsonable(value: Any, shown: Callable[[str], str] = str) -> Any:
    """nan, which JSON does not have, becomes None, and a record a dictionary of the fields that its repr has.

    Args:
        shown: makes of each text the one that is written.
    """
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, Mapping):
        return {jsonable(key, shown): jsonable(item, shown) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item, shown) for item in value]
    if isinstance(value, msgspec.Struct):
        return {name: jsonable(getattr(value, name), shown) for name in value.__struct_fields__}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name), shown) for field in fields(value) if field.repr}
    return value
