"""What people said of what models made, found by the texts that they saw: ids of several models' attributes are alike, texts are not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Generic

from ..common.errors import DataError
from ..common.similar import likeness
from ..common.text import same_text
from .annotated import LACKING as MISSING
from .data import each_once, file_name, located
from .extract import NEAR
from .fields import RowFields
from .histories import conversation_id
from .rows import SOURCES, STAGES, Extraction, R, Relevance, Response, parse

Key = tuple[str, ...]
"""Of what a row is about: its user and its texts, each as `same_text` has it."""


@dataclass(frozen=True)
class StageVotes(Generic[R]):
    """What people said of one stage.

    Attributes:
        rows: those with a judgment, by `Key`.
        disputed: how many more there are whose judgment differs between two rows of the same texts; nobody can tell which one holds.
    """

    rows: Mapping[Key, R] = field(default_factory=dict)
    disputed: int = 0


@dataclass(frozen=True)
class Lacking:
    """A conversation about which people were asked what is missing among its attributes.

    Attributes:
        id: of the conversation.
        named: by all people; empty where nothing is missing.
    """

    id: str
    user_id: str
    source: str
    named: tuple[str, ...]


@dataclass(frozen=True)
class Judgments:
    """What people said of all stages.

    Attributes:
        lacking: conversation id -> what people named as missing there. Conversations about which nobody was asked are not there.
        folders: where it was found.
    """

    extraction: StageVotes[Extraction]
    relevance: StageVotes[Relevance]
    response: StageVotes[Response]
    lacking: Mapping[str, Lacking]
    folders: tuple[str, ...]

    @cached_property
    def true_of(self) -> dict[str, list[str]]:
        """Id of a conversation of `lacking` -> the attributes that people accepted or named as missing there, near duplicates once."""
        accepted: dict[str, list[str]] = {}
        for (conversation, _), row in self.extraction.rows.items():
            if not row.judgment:
                accepted.setdefault(conversation, []).append(row.attribute)
        return {name: _different([*accepted.get(name, ()), *of.named]) for name, of in self.lacking.items()}


def about_attribute(conversation: str, attribute: str) -> Key:
    """
    Args:
        conversation: its id, which has that of its user.
    """
    return conversation, same_text(attribute)


def about_prompt(user: str, prompt: str, attribute: str) -> Key:
    return user, same_text(prompt), same_text(attribute)


def about_replies(user: str, prompt: str, generic: str, personalized: str) -> Key:
    return user, same_text(prompt), same_text(generic), same_text(personalized)


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
    names = [*map(file_name, STAGES), MISSING]
    places = [located(folder, names) for folder in folders]

    def votes(stage: type[R], key: Any) -> StageVotes[R]:
        paths = [folder / file_name(stage) for folder, _ in places if (folder / file_name(stage)).is_file()]
        rows = (row for path in paths for row in each_once(path, partial(parse, stage)) if row.judgment is not None)
        return _joined(rows, key)

    for place, source in places:
        if not any((place / name).is_file() for name in names):
            raise DataError(
                f"{source}: found none of {', '.join(names)}, expected what people said of what the models made. Pass --people with a "
                "folder that `personafeedback annotate votes` wrote."
            )
    return Judgments(
        votes(Extraction, lambda row: about_attribute(conversation_id(row.user_id, row.conversation), row.attribute)),
        votes(Relevance, lambda row: about_prompt(row.user_id, row.prompt, row.attribute)),
        votes(Response, lambda row: about_replies(row.user_id, row.prompt, row.generic, row.personalized)),
        _lacking(folder / MISSING for folder, _ in places),
        tuple(source for _, source in places),
    )


def _joined(rows: Iterable[R], key: Any) -> StageVotes[R]:
    found: dict[Key, R] = {}
    disputed: set[Key] = set()
    for row in rows:
        first = found.setdefault(key(row), row)
        if first.judgment != row.judgment:
            disputed.add(key(row))
    return StageVotes({about: row for about, row in found.items() if about not in disputed}, len(disputed))


def _lacking(paths: Iterable[Path]) -> dict[str, Lacking]:
    found: dict[str, Lacking] = {}
    for path in paths:
        for row in each_once(path, _read_lacking) if path.is_file() else ():
            before = found[row.id].named if row.id in found else ()
            found[row.id] = replace(row, named=(*before, *row.named))
    return found


def _read_lacking(row: dict[str, Any], where: str) -> Lacking:
    fields = RowFields(row, where)

    def right(value: object) -> bool:
        return isinstance(value, list) and all(
            isinstance(texts, list) and all(isinstance(text, str) and text.strip() for text in texts) for texts in value
        )

    _, user = fields.names()
    named = fields.checked("missing", right, "a list of what each person named, a list of texts each")
    conversation = conversation_id(user, fields.conversation("conversation"))
    return Lacking(conversation, user, fields.word("source", SOURCES), tuple(text for texts in named for text in texts))


def _different(texts: Iterable[str]) -> list[str]:
    """Without those that nearly repeat an earlier one."""
    found: list[str] = []
    for text in texts:
        if not is_among(text, found):
            found.append(text)
    return found
