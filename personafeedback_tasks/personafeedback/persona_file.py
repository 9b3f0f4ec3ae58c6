"""`persona/<user_id>.json` -> a profile. Strict, and small enough for every later step on each of a user's cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..common.errors import DataError
from ..common.strict_json import broken, loads, read, reason, refuse_marks, short

LARGEST = 200_000
"""Bytes of one persona. Those of the release have about 3,000."""
LONGEST_KEY = 200
"""Characters of a key. A prompt may repeat it before each value and each key below it."""
DEEPEST = 20
"""Levels of nested objects and lists. A prompt indents each of them."""


def load(path: Path) -> dict[str, Any]:
    """The profile as parsed.

    Raises:
        DataError: the file is not a JSON object, or is larger, deeper or with longer keys than these limits.
    """
    raw = read(path)
    if len(raw) > LARGEST:
        raise DataError(
            f"{path}: found a persona of {len(raw):,} bytes, expected at most {LARGEST:,}. Shorten it to a profile; content "
            "that interests the user belongs in memory/<user_id>.jsonl, for setting=rag."
        )
    refuse_marks(raw, f"{path}, line 1")
    try:
        profile = loads(raw.decode("utf-8"))
    except ValueError as error:
        raise broken(str(path), reason(error), "one JSON object") from error
    if not isinstance(profile, dict) or not profile:
        raise broken(str(path), short(profile), "a non-empty JSON object")
    _refuse_shape(profile, path, 1)
    return profile


def _refuse_shape(value: dict[str, Any] | list[Any], path: Path, depth: int) -> None:
    if depth > DEEPEST:
        raise broken(str(path), f"more than {DEEPEST} levels of nested objects and lists", f"at most {DEEPEST}")
    if isinstance(value, dict) and len(longest := max(value, key=len, default="")) > LONGEST_KEY:
        raise broken(
            str(path), f"the key {short(longest)} of {len(longest):,} characters", f"keys of at most {LONGEST_KEY}"
        )
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, (dict, list)):
            _refuse_shape(item, path, depth + 1)
