"""A user's memory: content that this person would consume, for the setting `rag`. The release has none.

In the paper (arXiv 2506.12915, Section 3.2 and Appendix F) it is what a model selected from open data (social media,
reviews, forums) as of interest to a persona, as in a reading history: neither notes about the person nor chats
with an assistant. The sources and the number of pieces per user are not stated.

The pieces are in `memory/<user_id>.jsonl` beside `data/` and `persona/`, one `{"text": ...}` per line; other keys are
ignored.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from ...common.errors import DataError
from ...common.strict_json import broken, cut, read, rows, short, short_list

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
    return tuple(_text(row, f"{path}, line {line}") for line, row in rows(path))


def _text(row: dict[str, object], where: str) -> str:
    if "text" not in row:
        raise broken(where, f"no 'text' (keys: {short_list(row) or 'none'})", "a string 'text'")
    text = row["text"]
    if not isinstance(text, str) or not text.strip():
        raise broken(where, f"text = {short(text)}", "a non-empty string")
    return text


def digest(root: Path) -> str:
    """SHA-256 (12 hex digits) of all memory files of a release.

    Of all users, in the run or not: the cells of one run have different users and must agree on it.
    """
    whole = hashlib.sha256()
    for path in sorted((root / FOLDER).glob("*.jsonl")):
        whole.update(f"{path.name} {hashlib.sha256(read(path)).hexdigest()}\n".encode())
    return whole.hexdigest()[:12]
