"""What every JSON and CSV output shares: the version of their keys, and percent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .records import json_text
from .statistics import Estimate

SCHEMA = 1
"""The version of the keys and units of all outputs; a program that reads them checks it."""


def output_text(document: dict[str, Any]) -> str:
    """What a command writes as JSON, see `outputs.schema.json`."""
    return json_text({"schema": SCHEMA, **document})


def in_percent(value: Estimate) -> Estimate:
    """A share, or a difference of shares, in percent."""
    return replace(
        value, value=100 * value.value, stderr=100 * value.stderr, low=100 * value.low, high=100 * value.high
    )
