"""A folder in which people judge rows of the three stages: rows -> items to judge; votes -> judged rows.

asked/*.jsonl  the rows that people are asked about; with conversations.jsonl, in which nothing was noted
*.jsonl        the rows that they judged, and missing.jsonl, what they missed
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..annotation.items import NONE, Item, fault_counts, guidelines
from ..annotation.rows import Vote
from ..common.errors import DataError
from ..common.files import write_all
from ..common.folders import SAMPLE
from ..common.outputs import json_lines, jsonable
from ..common.records import leaves, short
from ..core.cases import digest_of
from ..core.earlier import Earlier
from .data import each_if_there, load
from .extract import EXTRACT, conversation_of, extracted
from .respond import RESPOND, replied
from .rows import (
    JUDGED,
    SCALE,
    STAGES,
    VERDICTS,
    Conversation,
    Extraction,
    Relevance,
    Response,
    StageRow,
    parse_conversation,
    personal_in,
)
from .select import SELECT, selected

ASKED = "asked"
MISSED = "missing.jsonl"

MISSING, NOTHING = "missing", "nothing"
"""Answers to whether a conversation shows more of its user than was noted."""

ATTRIBUTE = dict(zip(VERDICTS, ("Makes sense", "Unsure", "Wrong"), strict=True))
LACKING = {NOTHING: "Nothing is missing", MISSING: "Something is missing: it is in my note"}
_RATINGS = ("A is much better", "A is somewhat better", "No difference", "B is somewhat better", "B is much better")
RATING = dict(zip(map(str, SCALE), _RATINGS, strict=True))
MIRRORED = dict(zip(RATING, reversed(RATING), strict=True))

GUIDELINES = guidelines(Path(__file__).with_name("guidelines.yaml"))
"""Stage -> what people are told."""

Rows = Sequence[StageRow]
"""Rows of any stage, and conversations in which nothing was noted."""


# --- rows that people are asked about ---------------------------------------------------------------------------------


def _extracted(run: Earlier) -> Iterator[StageRow]:
    yield from extracted(run)
    for case in run.cases:
        yield Conversation(case.id, case.user_id, conversation_of(case), case.cell)


MADE: Mapping[str, Callable[[Earlier], Iterable[StageRow]]] = {
    EXTRACT.name: _extracted,
    SELECT.name: lambda run: [row for one in selected(run) for row in one.rows],
    RESPOND.name: lambda run: [one.row for one in replied(run)],
}
"""Benchmark -> the rows, without judgments, that a run of it makes. What several models made alike has one id."""


def rows_in(data: Path | str) -> list[StageRow]:
    """The rows of a folder or of the sample, judged or not, by id."""
    folder = Path(__file__).with_name(SAMPLE) if data == SAMPLE else Path(data)
    rows = [row for stage in STAGES if (folder / stage.file).is_file() for row in load(stage, folder)]
    return sorted(rows, key=lambda row: row.id)


def screened(rows: Iterable[StageRow]) -> tuple[list[StageRow], Counter[str]]:
    """(the rows that people may see, reason -> how many others there are)."""
    kept, left_out = list[StageRow](), Counter[str]()
    for row in rows:
        texts = without_votes(row)
        if not all(map(str.strip, leaves(texts))):
            left_out["without both replies"] += 1
        elif personal_in(texts):
            left_out["with a mail address or phone number"] += 1
        else:
            kept.append(row)
    return kept, left_out


def asked_in(folder: Path) -> list[StageRow]:
    """The rows that people are asked about; none before the first pack."""
    return [*rows_in(folder / ASKED), *each_if_there(folder / ASKED / Conversation.file, parse_conversation)]


def add(folder: Path, asked: Rows, new: Rows) -> list[StageRow]:
    """Add rows to those that people are asked about: all of them, by id.

    Raises:
        DataError: an id has two texts; nothing is written.
    """
    every = {(row.file, row.id): row for row in asked}
    for row in new:
        known = every.setdefault((row.file, row.id), row)
        if without_votes(known) != without_votes(row):
            raise DataError(
                f"{folder / ASKED / row.file}: found {short(row.id)} with other texts than the new row of that id, "
                "expected the same. Give the new row another id, or use a new folder."
            )
    rows = sorted(every.values(), key=lambda row: row.id)
    lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        nobody: dict[str, Any] = {} if isinstance(row, Conversation) else {"votes": []}
        lines[row.file].append({**without_votes(row), **nobody})
    write_all({folder / ASKED / name: json_lines(of_file) for name, of_file in lines.items()})
    return rows


def without_votes(row: StageRow) -> dict[str, Any]:
    """A row as its file has it, without people's judgment; no id for a conversation, whose messages determine it."""
    out = {*JUDGED, *(["id"] if isinstance(row, Conversation) else [])}
    return {name: jsonable(getattr(row, name)) for name in row.__struct_fields__ if name not in out}


# --- what they are asked ----------------------------------------------------------------------------------------------


def items(rows: Rows) -> list[Item]:
    """One item per attribute of a conversation and for what is missing there, per profile, and per pair of replies."""
    found: list[Item] = []
    for name, (about, noted) in _conversations(rows).items():
        for note in noted:
            texts = {"conversation": note.transcript, "attribute": note.attribute, "reason": note.reason}
            found.append(
                Item(
                    id=item_id(note), user_id=note.user_id, kind=note.stage, block=name, texts=texts, answers=ATTRIBUTE
                )
            )
        attributes = "\n".join(f"- {note.attribute}" for note in noted) or "Nothing was noted."
        found.append(
            Item(
                id=name, user_id=about.user_id, kind=Extraction.stage, block=name, answers=LACKING, noted=(MISSING,),
                texts={"conversation": about.transcript, "attributes": attributes},
                asks="Does the conversation show more about the user that is worth remembering?",
            )
        )  # fmt: skip
    profiles: dict[str, list[Relevance]] = defaultdict(list)
    for row in rows:
        if isinstance(row, Relevance):
            profiles[item_id(row)].append(row)
    for name, (first, *others) in profiles.items():
        answers = {str(number): row.attribute for number, row in enumerate((first, *others), start=1)}
        found.append(
            Item(
                id=name, user_id=first.user_id, kind=first.stage, block=name, texts={"prompt": first.prompt},
                answers=answers, several=True,
            )
        )  # fmt: skip
    for row in rows:
        if isinstance(row, Response):
            found.append(
                Item(
                    id=item_id(row), user_id=row.user_id, kind=row.stage, block=item_id(row), answers=RATING,
                    mirrored=MIRRORED, faults=True, texts={"attribute": row.attribute, "prompt": row.prompt},
                    options={"generic": row.generic, "personalized": row.personalized},
                )
            )  # fmt: skip
    return found


def item_id(row: StageRow) -> str:
    """Id of the item about a row."""
    return f"{row.stage}:{digest_of((row.user_id, row.prompt)) if isinstance(row, Relevance) else row.id}"


def _conversations(rows: Rows) -> dict[str, tuple[Conversation, list[Extraction]]]:
    # id of the item about what is missing -> (a conversation, the attributes that were noted there)
    found: dict[str, tuple[Conversation, list[Extraction]]] = {}
    for kind in (Extraction, Conversation):
        for row in rows:
            if isinstance(row, kind):
                about = Conversation(row.conversation_id, row.user_id, row.conversation, row.source)
                _, noted = found.setdefault(f"{MISSING}:{row.conversation_id}", (about, []))
                if isinstance(row, Extraction):
                    noted.append(row)
    return found


# --- what they said ---------------------------------------------------------------------------------------------------


def write_judged(folder: Path, asked: Rows, votes: Iterable[tuple[Item, Vote]]) -> dict[str, int]:
    """Write the rows that people judged, and what they missed, from votes that count: file -> number of rows."""
    of_item: dict[str, list[tuple[Item, Vote]]] = defaultdict(list)
    for item, vote in votes:
        of_item[item.id].append((item, vote))
    judged: dict[str, list[dict[str, Any]]] = {name: [] for name in (*(stage.file for stage in STAGES), MISSED)}
    for row in asked:
        if not isinstance(row, Conversation) and (own := of_item[item_id(row)]):
            judged[row.file].append({**without_votes(row), **_judgments(row, own)})
    for name, (about, _) in _conversations(asked).items():
        if own := of_item[name]:
            named = [vote.note.split(";") if vote.chosen == MISSING else [] for _, vote in own]
            texts = [[text.strip() for text in by_one if text.strip()] for by_one in named]
            judged[MISSED].append({**without_votes(about), "missing": texts})
    written = {name: rows for name, rows in judged.items() if rows or (folder / name).is_file()}
    write_all({folder / name: json_lines(rows) for name, rows in written.items()})
    return {name: len(rows) for name, rows in written.items()}


def _judgments(row: StageRow, votes: Sequence[tuple[Item, Vote]]) -> dict[str, Any]:
    # as the row's file has them
    if isinstance(row, Relevance):
        ticked = [(item, set(vote.chosen.split()) - {NONE}) for item, vote in votes]
        return {"votes": [any(item.answers[number] == row.attribute for number in of_one) for item, of_one in ticked]}
    if not isinstance(row, Response):
        return {"votes": [vote.chosen for _, vote in votes]}
    faults = fault_counts((vote for _, vote in votes), {side: side for side in ("generic", "personalized")})
    return {"votes": [int(vote.chosen) for _, vote in votes], **({"faults": faults} if faults else {})}
