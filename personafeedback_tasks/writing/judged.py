"""Duels that people judge: drawn at random from a folder of duels -> items; votes -> the table that verdict reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..annotation.assignment import drawn
from ..annotation.items import Item
from ..annotation.rows import Vote
from ..common import tables
from ..common.errors import DataError
from ..common.records import NonEmpty
from ..common.row_files import FileRow
from ..personafeedback.cases import load_present
from ..personafeedback.report import duels

VOTES = "human.csv"
"""File of people's votes, in the folder of the study."""


class AskedDuel(FileRow, frozen=True):
    """A duel that people are asked about: a model's reply and the response that it meets."""

    file = "asked/duels.jsonl"

    id: NonEmpty  # of the benchmark's case
    user_id: NonEmpty
    persona: NonEmpty
    question: NonEmpty
    reply: NonEmpty
    other: NonEmpty


def draw_duels(folder: Path, count: int | None, seed: int) -> list[AskedDuel]:
    """So many duels of a folder, drawn at random, or all. A larger count draws the same ones, and more.

    Raises:
        DataError: the folder is no set of duels.
    """
    cases = load_present(folder)
    found = duels(cases)
    if found is None:
        raise DataError(f"{folder}: found a set that is not of duels, expected a folder that `duel` wrote.")
    rows = [
        AskedDuel(
            id=found.sources[case.id], user_id=case.user_id, persona=case.persona.text, question=case.question,
            reply=case.chosen, other=case.rejected,
        )
        for case in cases
    ]  # fmt: skip
    return sorted(rows, key=lambda row: drawn(seed, "duel", row.id))[:count]


def items(rows: Iterable[AskedDuel]) -> list[Item]:
    """One item for each duel."""
    found = []
    for row in rows:
        texts, options = {"persona": row.persona, "question": row.question}, {"reply": row.reply, "other": row.other}
        found.append(Item(id=f"duel:{row.id}", user_id=row.user_id, texts=texts, options=options))
    return found


def votes_table(judged: Sequence[tuple[Item, Vote]]) -> str:
    """The file that `verdict --human` reads: a row for each vote."""
    rows = [{"case": item.id.removeprefix("duel:"), "winner": vote.chosen} for item, vote in judged]
    return tables.text(["case", "winner"], rows)
