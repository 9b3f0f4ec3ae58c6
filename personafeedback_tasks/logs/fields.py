"""The role of every field that a harness records about a run, from fields.ini."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from configparser import ConfigParser
from functools import cache
from pathlib import Path
from typing import Any

CONDITION, REASON, HARMLESS = "condition", "reason", "harmless"
"""The roles in fields.ini."""

# how the names of fields end that may hold a secret
_SECRET = re.compile(r"(?i)(?:\A|_|-)(?:\w*key|token|secret|password|passwd|credentials?|auth\w*|cookie|headers?)\Z")


@cache
def _table() -> ConfigParser:
    table = ConfigParser(interpolation=None, delimiters=("=",))
    table.optionxform = str  # type: ignore[assignment, method-assign] # names keep their case
    table.read_string(Path(__file__).with_name("fields.ini").read_text("utf-8"))
    return table


@cache
def named(schema: str, role: str) -> tuple[str, ...]:
    """The fields of a schema that have a role."""
    return tuple(_table().get(schema, role, fallback="").split())


def is_condition(schema: str, name: str) -> bool:
    """Whether runs that differ in a field are two runs: true unless the table or its name says that it is harmless."""
    if name in named(schema, CONDITION):
        return True
    return not (name in named(schema, REASON) or name in named(schema, HARMLESS) or _SECRET.search(name))


def conditions(schema: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """The conditions in a record, by the names that outputs show, without unset ones and defaults."""
    found = {}
    for name, value in record.items():
        if is_condition(schema, name) and value not in (None, "", [], {}):
            value, default = _plain(value), _table().get("defaults", name, fallback=None)
            if default is None or value != json.loads(default):
                found[_table().get("shown", name, fallback=name)] = value
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(of) for name, of in value.items() if not _SECRET.search(str(name))}
    if isinstance(value, (list, tuple)):
        return [_plain(of) for of in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def common(program: str, conditions: Mapping[str, Any], writes: bool) -> dict[str, Any]:
    """The conditions that runs of other harnesses have too, each under one name; None for those that are not set.

    Args:
        program: the harness. For one that the table does not list, unset values are unknown.
        writes: whether the model was asked for text, so that its decoding matters.
    """
    table, fixed = _table(), f"fixed {program}"
    found = {}
    for name, names in (*table["prompt"].items(), *(table["decoding"].items() if writes else ())):
        values = [conditions[one] for one in names.split(", ") if one in conditions]
        if values or table.has_section(fixed):
            found[name] = values[0] if values else table.get(fixed, name, fallback=None)
    return found


def words(mark: str) -> str:
    """Template for the sentence why a sample with a mark does not count; empty for an unknown mark."""
    return _table().get("marks", mark, fallback="")
