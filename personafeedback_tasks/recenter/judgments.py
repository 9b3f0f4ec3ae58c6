"""What people said of what models made, found by the texts that they saw: rows of other sources have other ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from ..common.errors import DataError
from ..common.similar import likeness
from ..common.text import same_text
from .data import each_if_there, located
from .rows import STAGES, Conversation, Extraction, JudgedRow, Relevance, Response
from .study import MISSED

NEAR = 0.4
"""Likeness from which two attributes are near duplicates: `Prefers short answers` and `Prefers short, direct answers`
have 0.5, and `Lives in Lyon` and `Lives in Lisbon` 0.33. A paraphrase in other words has less.
"""

Key = tuple[str, ...]
"""Of what a row is about: its stage, its user and its texts, each as `same_text` has it."""


def _key(row: JudgedRow) -> Key:
    if isinstance(row, Extraction):
        return row.stage, row.conversation_id, same_text(row.attribute)
    if isinstance(row, Response):
        return row.stage, row.user_id, *map(same_text, (row.prompt, row.generic, row.personalized))
    assert isinstance(row, Relevance)
    return row.stage, row.user_id, same_text(row.prompt), same_text(row.attribute)


@dataclass(frozen=True)
class Judgments:
    """People's judgments of all stages."""

    rows: Mapping[Key, JudgedRow]
    disputed: int  # how many more have the texts of another row and another judgment: which one holds is unknown
    lacking: Mapping[str, Conversation]  # conversations about which somebody was asked what is missing, by id

    def of(self, row: JudgedRow) -> JudgedRow | None:
        """The judged row of the same texts; None if there is none."""
        return self.rows.get(_key(row))

    @cached_property
    def true_of(self) -> dict[str, list[str]]:
        """Conversation id -> attributes that people accepted or named as missing there, near duplicates once."""
        named: dict[str, list[str]] = {name: [] for name in self.lacking}
        for row in self.rows.values():
            if isinstance(row, Extraction) and not row.judgment and row.conversation_id in named:
                named[row.conversation_id].append(row.attribute)
        for name, conversation in self.lacking.items():
            different: list[str] = []
            for text in chain(named[name], *conversation.missing):
                if not is_among(text, different):
                    different.append(text)
            named[name] = different
        return named


def is_among(attribute: str, others: Iterable[str]) -> bool:
    """Whether one of the others is a near duplicate of it."""
    return any(same_text(attribute) == same_text(other) or likeness(attribute, other) >= NEAR for other in others)


def read_judgments(data: str | None) -> Judgments:
    """People's judgments in a folder, which may lack some, but not all, files; None is RECENTER_DATA."""
    names = [*(stage.file for stage in STAGES), MISSED]
    folder, source = located(data, names)
    if not any((folder / name).is_file() for name in names):
        raise DataError(
            f"{source}: found none of {', '.join(names)}, expected people's judgments of the models' outputs. Pass "
            "--people with a folder that `personafeedback annotate votes` wrote."
        )
    found: dict[Key, JudgedRow] = {}
    disputed: set[Key] = set()
    for stage in STAGES:
        for row in each_if_there(folder / stage.file, stage.parse):
            if row.judgment is not None and found.setdefault(_key(row), row).judgment != row.judgment:
                disputed.add(_key(row))
    lacking = {row.id: row for row in each_if_there(folder / MISSED, Conversation.parse)}
    rows = {key: row for key, row in found.items() if key not in disputed}
    return Judgments(rows, len(disputed), lacking)
