"""Looks for what ends a parser of JSON, before any parser sees it: some recurse for each bracket, some copy a number to the stack."""

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
_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_NO_MARKS = bytes(set(range(256)) - set(b'[]{}"'))


class LimitError(ValueError):
    """Bytes exceed a limit. The message is what was found, without the file and the advice."""


def read(path: Path) -> bytes:
    """A file as a whole.

    Raises:
        LimitError: it has more than LARGEST bytes.
        OSError: it cannot be read.
    """
    if (size := path.stat().st_size) > LARGEST:
        raise LimitError(f"a file of {size:,} bytes, more than {LARGEST:,}")
    return path.read_bytes()


def check_json(raw: bytes | str) -> None:
    """Raise LimitError for deeper nesting or a longer number than the limits above. Brackets and digits inside of strings do not count."""
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "surrogatepass")
    raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")  # no quotes are left but those around strings
    # A look at every tenth byte is cheap, and it sees a long number.
    if b"0" * (LONGEST_NUMBER // 10) in raw[::10].translate(_AS_ZEROS) and _LONG_NUMBER.search(_outside_strings(raw)):
        raise LimitError(f"a number of more than {LONGEST_NUMBER} digits")
    brackets = _outside_strings(raw.translate(None, _NO_MARKS).replace(b'""', b""))
    if max(accumulate(1 if bracket in b"[{" else -1 for bracket in brackets), default=0) > DEEPEST:
        raise LimitError("nesting that is too deep")


def _outside_strings(raw: bytes) -> bytes:
    return b"".join(raw.split(b'"')[::2])
