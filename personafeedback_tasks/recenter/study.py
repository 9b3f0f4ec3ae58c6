"""A folder in which people judge rows of the three stages (asked/*.jsonl), and their judgments (*.jsonl).

Judgments are found by the texts that people saw: ids of several models' attributes are alike, texts are not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from ..annotation.items import Item
from ..annotation.rows import Vote
from ..common.errors import DataError
from ..common.files import Content, write_all
from ..common.folders import SAMPLE
from ..common.outputs import json_lines, jsonable
from ..common.records import leaves, short
from ..common.similar import likeness
from ..common.text import same_text
from ..core.earlier import Earlier
from .data import each_if_there, load, located
from .extract import EXTRACT, conversation_of, extracted
from .items import MISSING, AskedRows, noted_in, votes_of
from .respond import RESPOND, replied
from .rows import (
    JUDGED,
    STAGES,
    Conversation,
    Extraction,
    JudgedRow,
    Relevance,
    Response,
    StageRow,
    parse,
    parse_conversation,
    personal_in,
)
from .select import SELECT, selected

ASKED = "asked"
MISSED = "missing.jsonl"

NEAR = 0.4
"""Likeness from which two attributes are near duplicates: `Prefers short answers` and `Prefers short, direct answers` have 0.5, and
`Lives in Lyon` and `Lives in Lisbon` 0.33. A paraphrase in other words has less.
"""


def rows_in(data: Path | str) -> dict[type[StageRow], list[Any]]:
    """The rows of a folder or of the sample, judged or not, by id; without stages that have no file."""
    folder = Path(__file__).with_name(SAMPLE) if data == SAMPLE else Path(data)
    there = [stage for stage in STAGES if (folder / stage.file).is_file()]
    return {stage: sorted(load(stage, folder), key=lambda row: row.id) for stage in there}


def made_in(runs: Iterable[tuple[str, Earlier]]) -> dict[type[StageRow], list[Any]]:
    """The rows that runs made, each run with its name in MADE; what several models made alike has one id, and is there once."""
    found: dict[type[StageRow], dict[str, Any]] = {}
    for benchmark, run in runs:
        for row in MADE[benchmark](run):
            found.setdefault(type(row), {}).setdefault(row.id, row)
    return {stage: list(rows.values()) for stage, rows in found.items()}


def screened(rows: AskedRows) -> tuple[dict[type[StageRow], list[Any]], Counter[str]]:
    """(the rows that people may see, reason -> how many others there are)."""
    left_out = Counter[str]()
    kept: dict[type[StageRow], list[Any]] = {stage: [] for stage in rows}
    for stage, of_stage in rows.items():
        for row in of_stage:
            fields = without_votes(row)
            if not all(map(str.strip, leaves(fields))):
                left_out["without both replies"] += 1
            elif personal_in(fields):
                left_out["with a mail address or phone number"] += 1
            else:
                kept[stage].append(row)
    return kept, left_out


def _extracted(run: Earlier) -> Iterator[StageRow]:
    yield from extracted(run)
    for case in run.cases:
        yield Conversation(case.id, case.user_id, conversation_of(case), case.cell)


MADE: Mapping[str, Callable[[Earlier], Iterable[StageRow]]] = {
    EXTRACT.name: _extracted,
    SELECT.name: lambda run: [row for one in selected(run) for row in one.rows],
    RESPOND.name: lambda run: [one.row for one in replied(run)],
}
"""Benchmark whose runs make something that people judge -> its rows."""


def add(folder: Path, asked: AskedRows, new: AskedRows) -> dict[type[StageRow], list[Any]]:
    """Add rows to those that people are asked about: all of them, by id. DataError for an id with two texts; nothing is written."""
    every: dict[type[StageRow], list[Any]] = {}
    lines: dict[Path, Content] = {}
    for stage in dict.fromkeys((*asked, *new)):
        there: dict[str, StageRow] = {row.id: row for row in asked.get(stage, ())}
        for row in new.get(stage, ()):
            known = there.setdefault(row.id, row)
            if without_votes(known) != without_votes(row):
                raise DataError(
                    f"{folder / ASKED / stage.file}: found {short(row.id)} with other texts than the new row of that id, expected the same. "
                    "Give the new row another id, or use a new folder."
                )
        every[stage] = sorted(there.values(), key=lambda row: row.id)
        nobody: dict[str, Any] = {} if stage is Conversation else {"votes": []}
        lines[folder / ASKED / stage.file] = json_lines([{**without_votes(row), **nobody} for row in every[stage]])
    write_all(lines)
    return every


def asked_in(folder: Path) -> dict[type[StageRow], list[Any]]:
    """The rows and conversations that people are asked about; none before the first pack."""
    found = rows_in(folder / ASKED)
    if conversations := each_if_there(folder / ASKED / Conversation.file, parse_conversation):
        found[Conversation] = conversations
    return found


def without_votes(row: StageRow) -> dict[str, Any]:
    """A row as its file has it, without people's judgment; no id for a conversation, whose messages determine it."""
    out = {*JUDGED, *(["id"] if isinstance(row, Conversation) else [])}
    return {one.name: jsonable(getattr(row, one.name)) for one in fields(row) if one.name not in out}


def write_judged(folder: Path, asked: AskedRows, votes: Sequence[tuple[Item, Vote]]) -> dict[str, int]:
    """Write the rows that people judged, and what they missed, from the votes that count: file name -> number of rows."""
    contents: dict[str, list[dict[str, Any]]] = {}
    for stage in STAGES:
        rows = asked.get(stage, ())
        said = votes_of(rows, votes)
        contents[stage.file] = [{**without_votes(row), **said[row.id]} for row in rows if row.id in said]
    contents[MISSED] = _missing(asked, votes)
    written = {name: rows for name, rows in contents.items() if rows or (folder / name).is_file()}
    write_all({folder / name: json_lines(rows) for name, rows in written.items()})
    return {name: len(rows) for name, rows in written.items()}


def _missing(rows: AskedRows, votes: Iterable[tuple[Item, Vote]]) -> list[dict[str, Any]]:
    named: dict[str, list[list[str]]] = defaultdict(list)
    for item, vote in votes:
        if item.noted:
            texts = vote.note.split(";") if vote.chosen == MISSING else []
            named[item.id].append([text.strip() for text in texts if text.strip()])
    return [
        {**without_votes(about), "missing": named[name]} for name, (about, _) in noted_in(rows).items() if name in named
    ]


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
        named = [
            (row.conversation_id, row.attribute)
            for row in self.rows.values()
            if isinstance(row, Extraction) and not row.judgment
        ]
        named += [(name, text) for name, row in self.lacking.items() for by_one in row.missing for text in by_one]
        found: dict[str, list[str]] = {name: [] for name in self.lacking}
        for name, text in named:
            if name in found and not is_among(text, found[name]):
                found[name].append(text)
        return found


def is_among(attribute: str, others: Iterable[str]) -> bool:
    """Whether one of the others is a near duplicate of it."""
    return any(same_text(attribute) == same_text(other) or likeness(attribute, other) >= NEAR for other in others)


def read_judgments(data: str | None) -> Judgments:
    """People's judgments in a folder, which may lack some, but not all, files; None is RECENTER_DATA."""
    names = [*(stage.file for stage in STAGES), MISSED]
    folder, source = located(data, names)
    if not any((folder / name).is_file() for name in names):
        raise DataError(
            f"{source}: found none of {', '.join(names)}, expected what people said of what the models made. Pass --people with a folder that "
            "`personafeedback annotate votes` wrote."
        )
    found: dict[Key, JudgedRow] = {}
    disputed: set[Key] = set()
    for stage in STAGES:
        for row in each_if_there(folder / stage.file, partial(parse, stage)):
            if row.judgment is not None and found.setdefault(_key(row), row).judgment != row.judgment:
                disputed.add(_key(row))
    lacking = {row.id: row for row in each_if_there(folder / MISSED, parse_conversation)}
    rows = {key: row for key, row in found.items() if key not in disputed}
    return Judgments(rows, len(disputed), lacking)
