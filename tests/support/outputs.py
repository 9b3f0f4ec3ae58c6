"""The JSON Schema of the outputs, and the page of the docs that is made of it: run this file to write the page again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA: dict[str, Any] = json.loads(
    files("personafeedback_tasks.common").joinpath("outputs.schema.json").read_text("utf-8")
)
PAGE = Path(__file__).parents[2] / "docs" / "outputs.md"

_HEAD = """\
# Outputs for programs

```bash
personafeedback rank logs --csv ranking.csv --json ranking.json
personafeedback report RUN --out DIR          # DIR/report.json
```

`schema` is the version of keys and units: it rises when one of them changes its meaning or goes. Keys and columns are always there; what is undefined is
null in JSON and empty in CSV. Which measures a ranking has follows from its benchmark alone, whatever data and controls are at hand. `rank` writes
shares in percent and their differences in points, as its `unit` says; the other outputs write shares from 0 to 1.

The same as a JSON Schema, with one entry of `$defs` for each table below, comes with the package:

```python
from importlib.resources import files

schema = files("personafeedback_tasks.common").joinpath("outputs.schema.json").read_text("utf-8")
```

In keys, `[]` is each item of a list and `*` each name in an object.
"""


def faults(document: Any, name: str) -> list[str]:
    """Where a document differs from an entry of the schema; empty if it does not."""
    validator = Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{name}"})
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]


def page() -> str:
    """The page of the docs."""
    parts = [_HEAD]
    for name, entry in SCHEMA["$defs"].items():
        rows = "\n".join(
            f"| `{key}` | {kind} | {about} |" for key, kind, about in _rows(entry, "") if not key.endswith((".*", "[]"))
        )
        parts.append(f"## {name}\n\n{entry['description']}\n\n| key | type | what it has |\n|---|---|---|\n{rows}\n")
    return "\n".join(parts)


def _rows(entry: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    """(key, type, what it has) of everything below an entry."""
    named = [*entry.get("properties", {}).items(), *((f"/{name}/", one) for name, one in entry.get("patternProperties", {}).items())]  # fmt: skip
    for name, below in named:
        yield from _row(below, f"{path}.{name}".lstrip("."))
    if isinstance(entry.get("additionalProperties"), dict):
        yield from _row(entry["additionalProperties"], f"{path}.*")
    if "items" in entry:
        yield from _row(entry["items"], f"{path}[]")


def _row(entry: Mapping[str, Any], key: str) -> Iterator[tuple[str, str, str]]:
    yield key, _kind(entry), entry.get("description", "")
    yield from _rows(entry, key)


def _kind(entry: Mapping[str, Any]) -> str:
    if "$ref" in entry:
        name = entry["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "anyOf" in entry:
        return " or ".join(map(_kind, entry["anyOf"]))
    if "enum" in entry:
        return ", ".join(f"`{value}`" for value in entry["enum"])
    kinds = entry.get("type", "any")
    shown = " or ".join(kinds) if isinstance(kinds, list) else kinds
    of = entry.get("items") or entry.get("additionalProperties")
    return (
        f"{shown} of {_kind(of)}" if isinstance(of, dict) and "properties" not in of and _kind(of) != "any" else shown
    )


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
