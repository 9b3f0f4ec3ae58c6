"""A user's memory for the setting `rag`: content that this person would consume, as in the paper's Section 3.2.

memory/<user_id>.jsonl has a `text`, or a chat turn's `role` and `content`, per line, and maybe a `date`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from ..common.errors import DataError
from ..common.records import broken, cut, read, rows, short, short_list

FOLDER = "memory"


def load(user_id: str, path: Path | None) -> tuple[str, ...]:
    """The pieces of one user's memory, in the order of the file; `path` is None if the persona came from no release."""
    if path is None or not path.is_file():
        expected = f"{FOLDER}/<user_id>.jsonl" if path is None else cut(str(path), 300)
        raise DataError(
            f"setting=rag: found no memory of user_id {short(user_id)}, expected the file {expected} with one "
            '{"text": "..."} per line. The release has no memories: write these files into a folder (or Hub dataset) '
            "that also contains data/ and persona/, and pass it as data=."
        )
    return tuple(text_of(row, f"{path}, line {line}") for line, row in rows(path))


ROLES = ("user", "assistant")
"""Of the turns of a chat."""


def text_of(row: Mapping[str, object], where: str) -> str:
    """A piece as prompts show it: a turn of a chat as `user: ...`, after its date as `[2025-03-01] user: ...`."""
    date = row.get("date")
    dated = f"[{date.strip()}] " if isinstance(date, str) and date.strip() else ""
    if "text" in row:
        return dated + _string(row, "text", where)
    if "content" not in row:
        raise broken(
            where, f"no 'text' (keys: {short_list(row) or 'none'})", "a string 'text', or 'role' and 'content'"
        )
    if row.get("role") not in ROLES:
        raise broken(where, f"role = {short(row.get('role'))}", " or ".join(ROLES))
    return f"{dated}{row['role']}: {_string(row, 'content', where)}"


def _string(row: Mapping[str, object], key: str, where: str) -> str:
    text = row[key]
    if not isinstance(text, str) or not text.strip():
        raise broken(where, f"{key} = {short(text)}", "a non-empty string")
    return text


def digest(root: Path) -> str:
    """SHA-256 (12 hex digits) of all memory files of a release.

    Of all users, in the run or not: the cells of one run have different users and must agree on it.
    """
    whole = hashlib.sha256()
    for path in sorted((root / FOLDER).glob("*.jsonl")):
        whole.update(f"{path.name} {hashlib.sha256(read(path)).hexdigest()}\n".encode())
    return whole.hexdigest()[:12]
