"""A folder in which people judge rows of the three stages: rows -> items to judge; votes -> judged rows.

asked/*.jsonl  the rows that people are asked about; with conversations.jsonl, in which nothing was noted
*.jsonl        the rows that they judged, and missing.jsonl, what they missed
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..annotation.items import Item, fault_counts, guidelines
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
from .rows import JUDGED, SCALE, STAGES, VERDICTS, Conversation, Extraction, Relevance, Response, StageRow, personal_in
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


MADE: Mapping[str, Callable[[Earlier], Iterable[StageRow]]] = {
    EXTRACT.name: lambda run: [*extracted(run), *map(conversation_of, run.cases)],
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
    return [*rows_in(folder / ASKED), *each_if_there(folder / ASKED / Conversation.file, Conversation.parse)]


def add(folder: Path, asked: Iterable[StageRow], new: Iterable[StageRow]) -> list[StageRow]:
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
        lines[row.file].append({**without_votes(row), **({} if isinstance(row, Conversation) else {"votes": []})})
    write_all({folder / ASKED / name: json_lines(of_file) for name, of_file in lines.items()})
    return rows


def without_votes(row: StageRow) -> dict[str, Any]:
    """A row as its file has it, without people's judgment; no id for a conversation, whose messages determine it."""
    out = {*JUDGED, *(["id"] if isinstance(row, Conversation) else [])}
    return {name: jsonable(getattr(row, name)) for name in row.__struct_fields__ if name not in out}


class StudyItem(NamedTuple):
    """An item, and the rows that its votes are about."""

    item: Item
    rows: Sequence[StageRow]


def items(rows: Iterable[StageRow]) -> list[StudyItem]:
    """One for each attribute of a conversation and for what is missing there, for each profile and pair of replies."""
    noted: dict[str, list[Extraction]] = defaultdict(list)  # block of a conversation -> its attributes
    about: dict[str, Conversation] = {}
    profiles: dict[str, list[Relevance]] = defaultdict(list)
    pairs: list[Response] = []
    for row in sorted(rows, key=lambda row: isinstance(row, Conversation)):  # these last: nothing may be noted there
        if isinstance(row, (Extraction, Conversation)):
            block = f"{MISSING}:{row.conversation_id}"
            about.setdefault(block, Conversation(row.conversation_id, row.user_id, row.conversation, row.source))
            if isinstance(row, Extraction):
                noted[block].append(row)
        elif isinstance(row, Relevance):
            profiles[f"{row.stage}:{digest_of((row.user_id, row.prompt))}"].append(row)
        elif isinstance(row, Response):
            pairs.append(row)
    found: list[StudyItem] = []
    for block, conversation in about.items():
        for note in noted[block]:
            item = Item(
                id=f"{note.stage}:{note.id}", user_id=note.user_id, kind=note.stage, block=block, answers=ATTRIBUTE,
                texts={"conversation": note.transcript, "attribute": note.attribute, "reason": note.reason},
            )  # fmt: skip
            found.append(StudyItem(item, [note]))
        attributes = "\n".join(f"- {note.attribute}" for note in noted[block]) or "Nothing was noted."
        item = Item(
            id=block, user_id=conversation.user_id, kind=Extraction.stage, block=block, answers=LACKING,
            noted=(MISSING,), texts={"conversation": conversation.transcript, "attributes": attributes},
            asks="Does the conversation show more about the user that is worth remembering?",
        )  # fmt: skip
        found.append(StudyItem(item, [conversation]))
    for block, profile in profiles.items():
        item = Item(
            id=block, user_id=profile[0].user_id, kind=Relevance.stage, block=block,
            texts={"prompt": profile[0].prompt},
            answers={str(number): row.attribute for number, row in enumerate(profile, start=1)}, several=True,
        )  # fmt: skip
        found.append(StudyItem(item, profile))
    for pair in pairs:
        block = f"{pair.stage}:{pair.id}"
        item = Item(
            id=block, user_id=pair.user_id, kind=pair.stage, block=block, answers=RATING, mirrored=MIRRORED,
            texts={"attribute": pair.attribute, "prompt": pair.prompt}, faults=True,
            options={"generic": pair.generic, "personalized": pair.personalized},
        )  # fmt: skip
        found.append(StudyItem(item, [pair]))
    return found


def write_judged(folder: Path, asked: Iterable[StudyItem], votes: Iterable[tuple[Item, Vote]]) -> dict[str, int]:
    """Write the rows that people judged, and what they missed, from votes that count: file -> number of rows."""
    of_item: dict[str, list[Vote]] = defaultdict(list)
    for item, vote in votes:
        of_item[item.id].append(vote)
    lines: dict[str, list[dict[str, Any]]] = {name: [] for name in (*(stage.file for stage in STAGES), MISSED)}
    judged = [(row, item) for item, rows in asked if item.id in of_item for row in rows]
    for row, item in sorted(judged, key=lambda pair: pair[0].id):
        name = MISSED if isinstance(row, Conversation) else row.file
        lines[name].append({**without_votes(row), **_judgments(item, row, of_item[item.id])})
    # a file that is there is also emptied where no vote counts any more
    written = {name: of_file for name, of_file in lines.items() if of_file or (folder / name).is_file()}
    write_all({folder / name: json_lines(of_file) for name, of_file in written.items()})
    return {name: len(of_file) for name, of_file in written.items()}


def _judgments(item: Item, row: StageRow, votes: Sequence[Vote]) -> dict[str, Any]:
    # as the row's file has them
    if isinstance(row, Conversation):
        notes = [vote.note if vote.chosen == MISSING else "" for vote in votes]
        return {"missing": [[text.strip() for text in note.split(";") if text.strip()] for note in notes]}
    if isinstance(row, Relevance):
        own = {number for number, attribute in item.answers.items() if attribute == row.attribute}
        return {"votes": [not own.isdisjoint(vote.chosen.split()) for vote in votes]}
    if not isinstance(row, Response):
        return {"votes": [vote.chosen for vote in votes]}
    faults = fault_counts(votes, {side: side for side in item.options})
    return {"votes": [int(vote.chosen) for vote in votes], **({"faults": faults} if faults else {})}
