"""A file that no parser survives ends in a sentence: some recurse for each bracket, some copy a number to the stack."""

from __future__ import annotations

import re
from itertools import accumulate
from pathlib import Path

LARGEST = 2**30
"""Bytes of a file that is read as a whole."""

DEEPEST = 150
"""Nested objects and lists. Logs have about 10."""

LONGEST_NUMBER = 400
"""Digits in a row. The largest double has 309."""

_LONG_NUMBER = re.compile(rb"\d{%d}" % (LONGEST_NUMBER + 1))
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class LimitError(ValueError):
    """Bytes exceed a limit. The message is what was found, without the file and the advice."""


def read(path: Path) -> bytes:
    """A file as a whole. Raises LimitError if it has more than LARGEST bytes, OSError if it cannot be read."""
    if (size := path.stat().st_size) > LARGEST:
        raise LimitError(f"a file of {size:,} bytes, more than {LARGEST:,}")
    return path.read_bytes()


def check_json(raw: bytes | str) -> None:
    """Raise LimitError for deeper nesting or a longer number than the limits above. Brackets and digits inside of strings do not count."""
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "surrogatepass")
    no_escapes = raw.replace(b"\\\\", b"").replace(b'\\"', b"")  # no quotes are left but those around strings
    bare = b"".join(no_escapes.split(b'"')[::2])
    if _LONG_NUMBER.search(bare):
        raise LimitError(f"a number of more than {LONGEST_NUMBER} digits")
    brackets = bare.translate(None, _NO_BRACKETS)
    if max(accumulate(1 if bracket in b"[{" else -1 for bracket in brackets), default=0) > DEEPEST:
        raise LimitError("nesting that is too deep")
