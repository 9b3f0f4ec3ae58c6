"""Recorded replies of a language model -> what it said of each row, for a filter that weighs them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...common.errors import DataError
from ...common.strict_json import broken, rows, short
from ...engine.cases import digest_of
from ...replies.words import read_yes_no
from ..rows import Relevance


class Recorded:
    """The replies of one file.

    Args:
        file: JSONL with `id`, of a row of relevance.jsonl, and `reply`; `import-annotations` writes such files into replies/.

    Attributes:
        file: its path.

    Raises:
        DataError: it is broken, or has an id twice.
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.file = Path(file)
        self._said: dict[str, str] = {}
        for line, row in rows(self.file):
            where = f"{self.file}, line {line}"
            for key in ("id", "reply"):
                if not isinstance(row.get(key), str):
                    raise broken(where, f"{key} = {short(row.get(key))}", f"a string {key!r}")
            if row["id"] in self._said:
                raise broken(where, f"id = {short(row['id'])} a second time", "one reply to each row")
            self._said[row["id"]] = read_yes_no(row["reply"], row.get("truncated") is True)

    def of(self, row_id: str) -> str:
        """YES, NO, or why the reply is neither.

        Raises:
            DataError: there is no reply to that row.
        """
        if row_id not in self._said:
            raise DataError(
                f"{self.file}: found no reply to the row {short(row_id)}, expected one to each row. Record the model's replies to "
                "all rows, and check that they are to the same data."
            )
        return self._said[row_id]

    def to(self, found: Sequence[Relevance]) -> list[str]:
        """One per row, see `of`."""
        return [self.of(row.id) for row in found]


def digest(found: Sequence[Relevance], answers: Sequence[str]) -> str:
    """SHA-256 (12 hex digits) of what was said of each row, whatever the order of the rows."""
    said: Mapping[str, str] = {row.id: answer for row, answer in zip(found, answers, strict=True)}
    return digest_of([list(pair) for pair in sorted(said.items())])
