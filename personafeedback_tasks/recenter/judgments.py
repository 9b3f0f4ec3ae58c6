"""What people said of what models made, found by the texts that they saw: ids of several models' attributes are alike, texts are not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Annotated, NamedTuple

from ..common.errors import DataError
from ..common.records import NonEmpty, one_of
from ..common.similar import likeness
from ..common.text import same_text
from .data import each_if_there, file_name, located
from .rows import (
    SOURCES,
    STAGES,
    Extraction,
    JudgedRow,
    Message,
    Relevance,
    Response,
    conversation_id,
    parse,
    record,
    with_conversation,
)
from .study import MISSED

NEAR = 0.4
"""Likeness from which two attributes are near duplicates: `Prefers short answers` and `Prefers short, direct answers` have 0.5, and
`Lives in Lyon` and `Lives in Lisbon` 0.33. A paraphrase in other words has less.
"""

Key = tuple[str, ...]
"""Of what a row is about: its stage, its user and its texts, each as `same_text` has it."""


def about(row: JudgedRow) -> Key:
    """The key of a row."""
    if isinstance(row, Extraction):
        return row.stage, row.conversation_id, same_text(row.attribute)
    if isinstance(row, Response):
        return row.stage, row.user_id, *map(same_text, (row.prompt, row.generic, row.personalized))
    assert isinstance(row, Relevance)
    return row.stage, row.user_id, same_text(row.prompt), same_text(row.attribute)


@dataclass(frozen=True)
class Lacking:
    """A conversation about which people were asked what is missing among its attributes: a line of missing.jsonl, see `study.missing`.

    Attributes:
        missing: what each person named; nothing where nothing is missing.
    """

    id: NonEmpty
    user_id: NonEmpty
    source: Annotated[str, one_of(*SOURCES)]
    conversation: tuple[Message, ...]
    missing: tuple[tuple[NonEmpty, ...], ...]
    attributes: tuple[str, ...] = ()


class Thing(NamedTuple):
    """Something that a model made or passed over.

    Attributes:
        about: its key.
        prompt: its id, which users share; empty for what is about a conversation.
        said: people's judgment; None where nobody judged it.
        made: whether the model extracted it, selected it, or replied.
        parts: split -> the part that it is in; without those that do not apply.
    """

    about: Key
    user: str
    prompt: str
    said: float | None
    made: bool
    parts: Mapping[str, str]


@dataclass(frozen=True)
class Judgments:
    """What people said of all stages.

    Attributes:
        rows: those with a judgment.
        disputed: how many more there are whose judgment differs between two rows of the same texts; nobody can tell which one holds.
        lacking: conversation id -> what people named as missing there. Conversations about which nobody was asked are not there.
    """

    rows: Mapping[Key, JudgedRow]
    disputed: int
    lacking: Mapping[str, Lacking]

    @cached_property
    def true_of(self) -> dict[str, list[str]]:
        """Id of a conversation of `lacking` -> the attributes that people accepted or named as missing there, near duplicates once."""
        accepted: dict[str, list[str]] = {}
        for (_, conversation, *_), row in self.rows.items():
            if isinstance(row, Extraction) and not row.judgment:
                accepted.setdefault(conversation, []).append(row.attribute)
        return {
            name: _different([*accepted.get(name, ()), *chain.from_iterable(of.missing)])
            for name, of in self.lacking.items()
        }


def is_among(attribute: str, others: Iterable[str]) -> bool:
    """Whether one of the others is a near duplicate of it."""
    return any(same_text(attribute) == same_text(other) or likeness(attribute, other) >= NEAR for other in others)


def read_judgments(folders: Sequence[str | os.PathLike[str] | None]) -> Judgments:
    """What people said, of all folders together. Each may lack any of the files.

    Args:
        folders: None is that of RECENTER_DATA, see `data.located`.

    Raises:
        DataError: there is no such folder, it has none of the files, or one of them is broken.
    """
    names = [*map(file_name, STAGES), MISSED]
    found: dict[Key, JudgedRow] = {}
    disputed: set[Key] = set()
    lacking: dict[str, Lacking] = {}
    for folder, source in (located(folder, names) for folder in folders):
        if not any((folder / name).is_file() for name in names):
            raise DataError(
                f"{source}: found none of {', '.join(names)}, expected what people said of what the models made. Pass --people with a "
                "folder that `personafeedback annotate votes` wrote."
            )
        for stage in STAGES:
            for row in each_if_there(folder / file_name(stage), partial(parse, stage)):
                if row.judgment is not None and found.setdefault(about(row), row).judgment != row.judgment:
                    disputed.add(about(row))
        for row in each_if_there(
            folder / MISSED, lambda row, where: record(where, with_conversation(where, row), Lacking)
        ):
            name = conversation_id(row.user_id, row.conversation)
            before = lacking[name].missing if name in lacking else ()
            lacking[name] = replace(row, missing=(*before, *row.missing))
    rows = {key: row for key, row in found.items() if key not in disputed}
    return Judgments(rows, len(disputed), lacking)


def _different(texts: Iterable[str]) -> list[str]:
    """Without those that nearly repeat an earlier one."""
    found: list[str] = []
    for text in texts:
        if not is_among(text, found):
            found.append(text)
    return found
