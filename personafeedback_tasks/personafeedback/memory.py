"""A user's memory for the setting `rag`: content that this person would consume, and what of it fits a question.

memory/<user_id>.jsonl has a `text`, or a chat turn's `role` and `content`, per line, and maybe a `date`.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..common.errors import DataError, require
from ..common.records import broken, cut, read, rows, short, short_list
from ..common.text import IDEOGRAPHS, neighbours, nfkc

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


# --- the pieces that fit a question, by BM25 --------------------------------------------------------------------------

_RUN = re.compile(rf"[{IDEOGRAPHS}]+|[^\W_{IDEOGRAPHS}]+")
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")


def search_terms(text: str) -> list[str]:
    """The lower-cased words and numbers of a text, and the pairs of neighboring Chinese characters."""
    # The tokenizer of bm25s makes one token of a Chinese line, which then matches nothing. A single character is a term
    # itself, and full-width letters and figures are those of ASCII.
    found: list[str] = []
    for run in _RUN.findall(nfkc(text).lower()):
        if len(run) == 1 or not _IDEOGRAPH.match(run):
            found.append(run)
        else:
            found += neighbours(run)
    return found


def retrieve(question: str, pieces: Sequence[str], k: int) -> tuple[str, ...]:
    """The k different pieces that are most relevant to a question, best first; all of them if there are fewer."""
    # Pieces that are equally relevant keep their order, including those that share no term with the question.
    different, index = _index(tuple(pieces))
    known = Counter(term for term in search_terms(question) if index is not None and term in index.vocab_dict)
    if not known:
        return different[:k]
    found = sum(count * index.get_scores([term]) for term, count in known.items())
    # Rounded: differences between numpy versions must not decide an order.
    scores = [round(float(score), 6) for score in found]
    best = sorted(range(len(different)), key=lambda place: -scores[place])
    return tuple(different[place] for place in best[:k])


@lru_cache(maxsize=1024)  # one a user: the cases of a task come with users in turn
def _index(pieces: tuple[str, ...]) -> tuple[tuple[str, ...], Any]:
    # None if no piece has a term, which bm25s cannot index.
    require("bm25s", extra="retrieval")
    import bm25s

    different = tuple(dict.fromkeys(pieces))
    tokens = [search_terms(piece) for piece in different]
    if not any(tokens):
        return different, None
    index = bm25s.BM25(dtype="float64")
    index.index(tokens, show_progress=False)
    return different, index
