"""Recorded replies of a language model -> what it said of each row, for a filter that weighs them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ...common.errors import DataError
from ...common.strict_json import short
from ...engine.cases import digest_of
from ...replies.words import read_yes_no
from ..fields import lines
from ..rows import Relevance


class RecordedAnswers:
    """The replies of one file.

    Args:
        file: JSONL with `id`, of a row of relevance.jsonl, and `reply`; `import-annotations` writes such files into replies/.

    Raises:
        DataError: it is broken, or has an id twice.
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.file = Path(file)
        self._answers: dict[str, str] = {}
        for line in lines(self.file):
            row, reply = (
                line.checked(key, lambda value: isinstance(value, str), "a string") for key in ("id", "reply")
            )
            if row in self._answers:
                raise line.broken(f"id = {short(row)} a second time", "one reply to each row")
            self._answers[row] = read_yes_no(reply, line.row.get("truncated") is True)

    def of(self, row_id: str) -> str:
        """YES, NO, or why the reply is neither.

        Raises:
            DataError: there is no reply to that row.
        """
        if row_id not in self._answers:
            raise DataError(
                f"{self.file}: found no reply to the row {short(row_id)}, expected one to each row. Record the model's replies to "
                "all rows, and check that they are to the same data."
            )
        return self._answers[row_id]

    def digest(self, rows: Sequence[Relevance]) -> str:
        """SHA-256 (12 hex digits) of what was said of each row, whatever the order of the rows."""
        return digest_of(sorted([row.id, self.of(row.id)] for row in rows))
