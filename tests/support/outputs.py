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

The types of all keys are in a [JSON Schema](../personafeedback_tasks/common/outputs.schema.json) that comes with the package, with one entry of `$defs` for
each table below:

```python
from importlib.resources import files

schema = files("personafeedback_tasks.common").joinpath("outputs.schema.json").read_text("utf-8")
```

Every output has `schema`, the version of keys and units: it rises when one of them changes its meaning or goes. Keys and columns are always there; what is
undefined is null in JSON and empty in CSV. Shares and their
differences are from 0 to 1 everywhere. In keys, `[]` is each item of a list and `*` each name in an object.
"""


def faults(document: Any, name: str) -> list[str]:
    """Where a document differs from an entry of the schema; empty if it does not."""
    validator = Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{name}"})
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]


def page() -> str:
    """The page of the docs."""
    parts = [_HEAD]
    for name, entry in SCHEMA["$defs"].items():
        rows = "\n".join(f"| `{key}` | {about} |" for key, about in _rows(entry, "") if not key.endswith((".*", "[]")))
        parts.append(f"## {name}\n\n{entry['description']}\n\n| key | |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


def _rows(entry: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """(key, what it has) of everything below an entry. The head of the page describes `schema`."""
    named = [*entry.get("properties", {}).items(), *((f"/{name}/", one) for name, one in entry.get("patternProperties", {}).items())]  # fmt: skip
    for name, below in named:
        if name != "schema":
            yield from _row(below, f"{path}.{name}".lstrip("."))
    if isinstance(entry.get("additionalProperties"), dict):
        yield from _row(entry["additionalProperties"], f"{path}.*")
    if "items" in entry:
        yield from _row(entry["items"], f"{path}[]")


def _row(entry: Mapping[str, Any], key: str) -> Iterator[tuple[str, str]]:
    named = "".join(f" ([{name}](#{name}))" for name in _tables(entry))
    values = ", ".join(f"`{value}`" for value in _values(entry))
    about = entry.get("description", "")
    # a description may say itself what each value means
    if values and not all(f"`{value}`" in about for value in _values(entry)):
        about = f"{values}: {about}" if about else values
    yield key, about + named
    yield from _rows(entry, key)


def _tables(entry: Mapping[str, Any]) -> list[str]:
    """The tables that describe an entry, or the items of a list or object."""
    if "$ref" in entry:
        return [entry["$ref"].rpartition("/")[2]]
    below = [*entry.get("anyOf", []), *(entry[key] for key in ("items", "additionalProperties") if isinstance(entry.get(key), dict))]  # fmt: skip
    return [name for one in below for name in _tables(one)]


def _values(entry: Mapping[str, Any]) -> list[str]:
    return entry.get("enum", [])


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
