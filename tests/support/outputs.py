"""The JSON Schema of the outputs."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from personafeedback_tasks import api


def faults(document: Any, name: str) -> list[str]:
    """Where a document differs from that of a command; empty if it does not."""
    kind = api.outputs()[name].__name__
    validator = Draft202012Validator({**api.schema(), "$ref": f"#/$defs/{kind}"})
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]
