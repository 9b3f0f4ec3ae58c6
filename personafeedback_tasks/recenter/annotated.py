"""The folder in which people judge rows: what they are asked about, as rows without votes, and what came back, as rows with them.

asked/extraction.jsonl, relevance.jsonl, response.jsonl   the rows of the packs; it only grows
asked/conversations.jsonl                                 conversations in which a model noted nothing
extraction.jsonl, relevance.jsonl, response.jsonl         those with votes: the folder is data of every task
missing.jsonl                                             what people missed in a conversation, see `asking.missing`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..annotation.items import Item
from ..common import private
from ..common.errors import DataError
from ..common.files import Content, write_all
from ..common.folders import SAMPLE
from ..common.records import json_lines, leaves, short
from ..engine.cases import digest_of
from ..engine.earlier import Earlier
from . import asking
from .data import each_once, file_name, load
from .extract import EXTRACT
from .fields import Message
from .histories import CONVERSATIONS, Conversation, parse_conversation
from .made import extracted, replied, selected
from .respond import RESPOND
from .rows import STAGES, Extraction, JudgedRow, Relevance, Response, StageRow
from .select import SELECT

ASKED = "asked"
MISSING = "missing.jsonl"

FILES: Mapping[type[StageRow], str] = {**{stage: file_name(stage) for stage in STAGES}, Conversation: CONVERSATIONS}
"""What people are asked about -> its file."""


def rows_in(data: Path | str, stages: Iterable[type[JudgedRow]] = STAGES) -> dict[type[StageRow], list[Any]]:
    """The rows of a folder or of the sample, judged or not, by id; without stages that have no file.

    Raises:
        DataError: a file is broken.
    """
    folder = Path(__file__).with_name(SAMPLE) if data == SAMPLE else Path(data)
    found: dict[type[StageRow], list[Any]] = {}
    for stage in stages:
        if (folder / file_name(stage)).is_file():
            found[stage] = sorted(load(stage, folder), key=lambda row: row.id)
    return found


def made_in(runs: Iterable[tuple[str, Earlier]]) -> tuple[dict[type[StageRow], list[Any]], Counter[str]]:
    """(what runs made, as rows that nobody judged; why something is no row -> how often): attributes, profiles for prompts, pairs of replies,
    and conversations without an attribute among these.

    The ids follow from the texts: what several models make alike is there once.

    Args:
        runs: each with its benchmark, one of MADE.
    """
    found: dict[type[StageRow], dict[str, Any]] = {}
    left_out = Counter[str]()
    for benchmark, run in runs:
        stage, rows = MADE[benchmark]
        for row in rows(run):
            texts = list(leaves(without_votes(row)))
            if not all(map(str.strip, texts)):
                left_out["without both replies"] += 1
            elif any(map(private.first_in, texts)):
                left_out["with personal data"] += 1
            else:
                found.setdefault(stage, {}).setdefault(row.id, row)
        if stage is Extraction:
            noted = {(row.user_id, row.conversation) for row in found.get(Extraction, {}).values()}
            bare = (one for one in _conversations(run) if (one.user_id, one.messages) not in noted)
            found.setdefault(Conversation, {}).update((one.id, one) for one in bare)
    return {stage: list(rows.values()) for stage, rows in found.items()}, left_out


def _conversations(run: Earlier) -> Iterator[Conversation]:
    for case in run.cases:
        messages = tuple(Message(**message) for message in case.facts["conversation"])
        yield Conversation(case.id, case.user_id, messages, case.cell)


def _extracted(run: Earlier) -> Iterator[JudgedRow]:
    for one in extracted(run):
        name = _id(one.conversation_id, one.attribute)
        yield Extraction(name, one.user_id, one.conversation, one.attribute, one.reason, one.source)


def _listed(run: Earlier) -> Iterator[JudgedRow]:
    for one in selected(run):
        for attribute in one.attributes:
            yield Relevance(_id(one.id, attribute), one.user_id, one.prompt, attribute)


def _replied(run: Earlier) -> Iterator[JudgedRow]:
    for one in replied(run):
        name = _id(one.id, one.generic, one.personalized)
        yield Response(name, one.user_id, one.prompt, one.attribute, one.generic, one.personalized)


def _id(about: str, *texts: str) -> str:
    return f"{about}-{digest_of([' '.join(text.casefold().split()) for text in texts])}"


MADE: Mapping[str, tuple[type[JudgedRow], Callable[[Earlier], Iterator[JudgedRow]]]] = {
    EXTRACT.name: (Extraction, _extracted), SELECT.name: (Relevance, _listed), RESPOND.name: (Response, _replied),
}  # fmt: skip
"""Benchmark whose runs make something -> the stage in which people judge it, and its rows."""


def add(folder: Path, new: asking.AskedRows) -> dict[type[StageRow], list[Any]]:
    """Add rows to those that people are asked about, and give all of them, by id.

    Raises:
        DataError: a row has the id of one with other texts. Nothing is written.
    """
    asked = asked_in(folder)
    for stage, rows in new.items():
        there: dict[str, StageRow] = {row.id: row for row in asked.setdefault(stage, [])}
        for row in rows:
            known = there.setdefault(row.id, row)
            if without_votes(known) != without_votes(row):
                raise DataError(
                    f"{folder / ASKED / FILES[stage]}: found {short(row.id)} with other texts than the new row of that id, expected the same. "
                    "Give the new row another id, or use a new folder."
                )
        asked[stage] = sorted(there.values(), key=lambda row: row.id)
    contents: dict[Path, Content] = {
        folder / ASKED / FILES[stage]: json_lines(
            [{**without_votes(row), **({} if stage is Conversation else {"votes": []})} for row in rows]
        )
        for stage, rows in asked.items()
    }
    write_all(contents)
    return asked


def asked_in(folder: Path) -> dict[type[StageRow], list[Any]]:
    """The rows and conversations that people are asked about; none before the first pack."""
    found, path = rows_in(folder / ASKED), folder / ASKED / CONVERSATIONS
    if path.is_file():
        found[Conversation] = each_once(path, parse_conversation)
    return found


def without_votes(row: StageRow) -> dict[str, Any]:
    """A row as its file has it, without people's judgment."""
    if isinstance(row, Conversation):
        return {"user_id": row.user_id, "conversation": [of._asdict() for of in row.messages], "source": row.source}
    values = {
        one.name: getattr(row, one.name) for one in fields(row) if one.compare and one.name not in ("label", "votes")
    }
    if isinstance(row, Extraction):
        values["conversation"] = [message._asdict() for message in row.conversation]
    return values


def write_judged(folder: Path, answers: Sequence[tuple[Item, str, str]]) -> dict[str, int]:
    """Write the rows that people judged, and what they missed: name of a file -> its rows.

    Args:
        answers: (question, answer, note) of each person.
    """
    asked = asked_in(folder)
    contents: dict[str, list[dict[str, Any]]] = {}
    for stage in STAGES:
        rows = asked.get(stage, ())
        votes = asking.votes_of(rows, [(question, answer) for question, answer, _ in answers])
        contents[FILES[stage]] = [{**without_votes(row), "votes": votes[row.id]} for row in rows if row.id in votes]
    contents[MISSING] = asking.missing(asked, [one for one in answers if one[0].noted])
    written = {name: rows for name, rows in contents.items() if rows or (folder / name).is_file()}
    write_all({folder / name: json_lines(rows) for name, rows in written.items()})
    return {name: len(rows) for name, rows in written.items()}
