"""Recorded replies of a language model -> what it said of each row, for a filter that weighs them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ...common.errors import DataError
from ...common.strict_json import short
from ...engine.cases import digest_of
from ..fields import lines
from ..rows import JudgedRow
from .stage import FilterStage


class RecordedAnswers:
    """The replies of one file.

    Args:
        stage: whose rows they are to.
        file: JSONL with `id`, of a row of the stage, and `reply`; `import-annotations` writes such files into replies/.

    Raises:
        DataError: it is broken, or has an id twice.
    """

    def __init__(self, stage: FilterStage, file: str | os.PathLike[str]) -> None:
        self.file, self._labels = Path(file), stage.labels
        self._answers: dict[str, str] = {}
        for line in lines(self.file):
            row, reply = (
                line.checked(key, lambda value: isinstance(value, str), "a string") for key in ("id", "reply")
            )
            if row in self._answers:
                raise line.broken(f"id = {short(row)} a second time", "one reply to each row")
            self._answers[row] = stage.read(reply, line.row.get("truncated") is True)

    def of(self, row_id: str) -> str:
        """A label of the stage, or why the reply is none.

        Raises:
            DataError: there is no reply to that row.
        """
        if row_id not in self._answers:
            raise DataError(
                f"{self.file}: found no reply to the row {short(row_id)}, expected one to each row. Record the model's replies to "
                "all rows, and check that they are to the same data."
            )
        return self._answers[row_id]

    def number(self, row_id: str) -> float:
        """The same for a linear model: 1 for the label that is sought, -1 for the other one, 0 for an unreadable reply."""
        return {self._labels.sought: 1.0, self._labels.other: -1.0}.get(self.of(row_id), 0.0)

    def digest(self, rows: Sequence[JudgedRow]) -> str:
        """SHA-256 (12 hex digits) of what was said of each row, whatever the order of the rows."""
        return digest_of(sorted([row.id, self.of(row.id)] for row in rows))
