"""What every JSON and CSV output shares: the version of their keys."""

from __future__ import annotations

from typing import Any

from .records import json_text

SCHEMA = 1
"""The version of the keys and units of all outputs; a program that reads them checks it."""


def output_text(document: dict[str, Any]) -> str:
    """What a command writes as JSON, see `outputs.schema.json`."""
    return json_text({"schema": SCHEMA, **document})
