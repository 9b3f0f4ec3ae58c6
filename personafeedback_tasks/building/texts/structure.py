"""The parts of a persona, and the check of a model's reply.

The structure is that of the release's files (see the paper's Appendix A); the paper's prompt for it is not printed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...common.records import loads

STRUCTURE: Mapping[str, Any] = loads(Path(__file__).with_name("structure.json").read_bytes())
"""Structure that a model is asked for. A team's own personas may have any keys."""


def as_shown() -> str:
    return json.dumps(STRUCTURE, indent=1)


def profile(text: str) -> tuple[dict[str, Any] | None, str]:
    """(profile, reason it is invalid) in a model's reply; one is None or empty. Text around the object, such as a code fence, is ignored."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None, "no_json"
    try:
        document = loads(text[start : end + 1])
    except ValueError:
        return None, "no_json"
    missing = _missing(STRUCTURE, document)
    return (None, f"no {missing}") if missing else (document, "")


def _missing(wanted: Mapping[str, Any], profile: Any, parent: str = "") -> str:
    # The first part that is missing, empty or of another type; empty if the profile has all.
    for key, example in wanted.items():
        value = profile.get(key) if isinstance(profile, dict) else None
        if isinstance(example, Mapping):
            if inner := _missing(example, value, f"{parent}{key}.") if isinstance(value, dict) else f"{parent}{key}":
                return inner
        elif isinstance(example, int):
            if not isinstance(value, (int, str)) or isinstance(value, bool):
                return f"{parent}{key}"
        elif not value or not isinstance(value, (list, str)):
            return f"{parent}{key}"
    return ""
