"""A user's memory: content that this person would consume, for the setting `rag`. The release has none.

In the paper (arXiv 2506.12915, Section 3.2 and Appendix F) it is what a model selected from open data (social media,
reviews, forums) as of interest to a persona, as in a reading history: neither notes about the person nor chats
with an assistant. The sources and the number of pieces per user are not stated.

The pieces are in `memory/<user_id>.jsonl` beside `data/` and `persona/`, one `{"text": ...}` per line; a team's own users may have turns
of a chat instead, each `{"role": "user", "content": ...}`. A `date`, if there is one, is shown in front of the piece. Other keys are ignored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from ...common.errors import DataError
from ...common.records import broken, cut, read, rows, short, short_list

FOLDER = "memory"


def load(user_id: str, path: Path | None) -> tuple[str, ...]:
    """The pieces of one user's memory, in the order of the file.

    Args:
        path: the file; None if the persona came from no release.

    Raises:
        DataError: there is no such file, or it is broken.
    """
    if path is None or not path.is_file():
        expected = f"{FOLDER}/<user_id>.jsonl" if path is None else cut(str(path), 300)
        raise DataError(
            f"setting=rag: found no memory of user_id {short(user_id)}, expected the file {expected} with one "
            '{"text": "..."} per line. The release has no memories: write these files into a folder (or Hub dataset) that also '
            "contains data/ and persona/, and pass it as data=."
        )
    return tuple(pieces(path).values())


def pieces(path: Path) -> dict[int, str]:
    """Line of a file -> its piece. Raises DataError: it cannot be read, or a line is no piece."""
    return {line: _text(row, f"{path}, line {line}") for line, row in rows(path)}


ROLES = ("user", "assistant")
"""Of the turns of a chat."""


def _text(row: Mapping[str, object], where: str) -> str:
    """A piece as a prompt shows it: a text as it is, a turn of a chat as `user: ...`; after its date, `[2025-03-01] user: ...`."""
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
