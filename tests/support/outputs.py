"""The JSON Schema of the outputs."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA: dict[str, Any] = json.loads(
    files("personafeedback_tasks.common").joinpath("outputs.schema.json").read_text("utf-8")
)


def faults(document: Any, name: str) -> list[str]:
    """Where a document differs from an entry of the schema; empty if it does not."""
    validator = Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{name}"})
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]
