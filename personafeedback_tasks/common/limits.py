"""Limits on bytes that strangers wrote, checked before any parser sees them.

Parsers differ in what ends them: some recurse for each bracket, some copy a number's digits into a buffer on the stack. Nothing that a
harness or this package writes comes near these limits.
"""

from __future__ import annotations

import copy
import json
import zipfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

DEEPEST = 150
"""Nested objects and lists. Logs have about 10."""

LONGEST_NUMBER = 400
"""Digits in a row. The largest double has 309."""

MOST_VALUES = 20_000_000
"""Commas, in texts too: at most 2 GB once parsed. A log of 8,298 cases has 3 million."""

LARGEST = 2**30
"""Bytes of a file that is read as a whole."""

LARGEST_PART = 2**28
"""Bytes of one line of JSON Lines, or of one member of a zip archive."""

EXPANSION = 200
"""Bytes that an archive may have when unpacked, per byte on the disk, where they are more than LARGEST. Logs have about 5."""

_STEP = 10
_NUMBER, _DIGIT_STEPS = b"0" * (LONGEST_NUMBER + 1), b"0" * (LONGEST_NUMBER // _STEP)
_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_NO_MARKS = bytes(set(range(256)) - set(b'[]{}"'))
_CHUNK = 2**16
"""Bytes: a compressed piece of this size unpacks to at most some hundred million, whatever the method."""


class LimitError(ValueError):
    """Bytes exceed a limit. The message is what was found and what was expected, without the file and the advice."""


def read(path: Path) -> bytes:
    """A file as a whole.

    Raises:
        LimitError: it has more than LARGEST bytes.
        OSError: it cannot be read.
    """
    if (size := path.stat().st_size) > LARGEST:
        raise LimitError(f"a file of {size:,} bytes, more than {LARGEST:,}")
    return path.read_bytes()


def lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, which end at LF, one in memory at a time.

    Raises:
        LimitError: one has more than LARGEST_PART bytes.
        OSError: it cannot be read.
    """
    with open(path, "rb", buffering=2**20) as file:
        while line := file.readline(LARGEST_PART + 1):
            if len(line) > LARGEST_PART:
                raise LimitError(f"a line of more than {LARGEST_PART:,} bytes")
            yield line


def check_json(raw: bytes | str) -> None:
    """Look for what could end a JSON parser. Brackets and digits inside of strings do not count.

    Raises:
        LimitError: deeper nesting, a longer number or more values than the limits above; or another encoding than UTF-8, which JSON must
            have and in which quotes and brackets could not be told from other characters.
    """
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "surrogatepass")
    elif (encoding := json.detect_encoding(raw)) not in ("utf-8", "utf-8-sig"):
        raise LimitError(f"text in {encoding}, and not in UTF-8")
    if len(raw) > MOST_VALUES and raw.count(b",") > MOST_VALUES:
        raise LimitError(f"more than {MOST_VALUES:,} values")
    if raw.count(b"[") + raw.count(b"{") > DEEPEST and _is_too_deep(_brackets(raw)):
        raise LimitError("nesting that is too deep")
    if _DIGIT_STEPS in raw[::_STEP].translate(_AS_ZEROS) and _NUMBER in _outside_strings(_unescaped(raw)).translate(
        _AS_ZEROS
    ):
        raise LimitError(f"a number of more than {LONGEST_NUMBER} digits")


def _unescaped(raw: bytes) -> bytes:
    """With no quotes but those that begin or end a string."""
    return raw.replace(b"\\\\", b"").replace(b'\\"', b"")


def _brackets(raw: bytes) -> bytes:
    """The brackets outside of strings. Two quotes side by side change nothing about which brackets are between quotes; few others are left."""
    return _outside_strings(_unescaped(raw).translate(None, _NO_MARKS).replace(b'""', b""))


def _outside_strings(text: bytes) -> bytes:
    parts: list[bytes] = []
    within = 0
    for start in range(0, len(text), 2**20):
        pieces = text[start : start + 2**20].split(b'"')
        parts += pieces[within::2]
        within ^= (len(pieces) - 1) % 2
    return b"".join(parts)


def _is_too_deep(brackets: bytes) -> bool:
    rest = brackets
    for _ in range(min(DEEPEST // 2, 20)):  # each time, pairs without anything inside go: one level, or two
        rest = rest.replace(b"[]", b"").replace(b"{}", b"")
        if not rest:
            return False
    steps = (1 if bracket in b"[{" else -1 for bracket in brackets)
    return any(depth > DEEPEST for depth in accumulate(steps))


def check_archive(path: Path, apart: str | None = None) -> None:
    """Check a zip archive of JSON files: the sizes that it declares before anything is unpacked, then each member.

    Args:
        apart: the beginning of the names of members whose content is left to `unpack`.

    Raises:
        LimitError: a member is larger than LARGEST_PART, or all of them are much larger than the file; or see `unpack`.
        OSError, zipfile.BadZipFile, and other errors of the decompressors: it is damaged.
    """
    with zipfile.ZipFile(path) as archive:
        size, declared = path.stat().st_size, [member.file_size for member in archive.infolist()]
        if max(declared, default=0) > LARGEST_PART:
            raise LimitError(f"a member of {max(declared):,} bytes, more than {LARGEST_PART:,}")
        if sum(declared) > max(LARGEST, EXPANSION * size):
            raise LimitError(f"an archive of {size:,} bytes that unpacks to {sum(declared):,}")
        for member in archive.infolist():
            if apart is None or not member.orig_filename.startswith(apart):
                unpack(archive, member)


def unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """A member of an archive, once checked as JSON.

    Raises:
        LimitError: it has more bytes than it declares, or `check_json`.
        zipfile.BadZipFile, and other errors of the decompressors: it is damaged.
    """
    undeclared = copy.copy(member)
    undeclared.file_size = LARGEST_PART + 1  # zipfile would stop at the declared size, where other readers go on
    parts, size = [], 0
    with archive.open(undeclared) as file:
        while part := file.read(_CHUNK):
            parts.append(part)
            size += len(part)
            if size > member.file_size:
                raise LimitError(f"a member of more than the {member.file_size:,} bytes that it declares")
    raw = b"".join(parts)
    check_json(raw)
    return raw
