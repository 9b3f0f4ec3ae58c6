"""The tables of the paper (arXiv 2506.12915), as printed. No score is ever compared with them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".json")
"""Transcribed from the ICLR 2026 submission text (the arXiv PDF was not at hand and may differ) and checked in both directions. A slip
is listed under `errata` and never corrected in place."""


@cache
def tables() -> dict[str, dict[str, Any]]:
    """Number -> table: `section`, our `caption`, `columns`, `unit`, `rows` (name, group, column -> cell), `notes`."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["tables"]
    return found


def scenario_categories() -> dict[str, str]:
    """Scenario of Table 5, or its category -> the category, in the order of the table."""
    return {name: row["name"] for row in tables()["5"]["rows"] for name in (row["name"], *row["scenarios"])}
