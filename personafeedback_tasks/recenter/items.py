"""Rows of the three stages -> what people are asked about them; their answers -> votes on the rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..annotation.items import NONE, Item, fault_counts, guidelines
from ..annotation.rows import Vote
from ..core.cases import digest_of
from .rows import (
    SCALE,
    VERDICTS,
    Conversation,
    Extraction,
    JudgedRow,
    Relevance,
    Response,
    StageRow,
)

MISSING, NOTHING = "missing", "nothing"
"""Answers to whether a conversation shows more of its user than was noted."""

ATTRIBUTE = dict(zip(VERDICTS, ("Makes sense", "Unsure", "Wrong"), strict=True))
LACKING = {NOTHING: "Nothing is missing", MISSING: "Something is missing: it is in my note"}
RATING = dict(
    zip(
        map(str, SCALE),
        ("A is much better", "A is somewhat better", "No difference", "B is somewhat better", "B is much better"),
        strict=True,
    )
)
MIRRORED = dict(zip(RATING, reversed(RATING), strict=True))

GUIDELINES = guidelines(Path(__file__).with_name("guidelines.yaml"))
"""Stage -> what people are told."""

AskedRows = Mapping[type[StageRow], Sequence[Any]]
"""Stage -> the rows that people are asked about; Conversation -> conversations in which nothing was noted."""


def noted_in(rows: AskedRows) -> dict[str, tuple[Conversation, list[Extraction]]]:
    """Block of items -> (a conversation that people judge, the attributes that were noted there)."""
    found: dict[str, tuple[Conversation, list[Extraction]]] = {}
    for row in (*rows.get(Extraction, ()), *rows.get(Conversation, ())):
        about = Conversation(row.conversation_id, row.user_id, row.conversation, row.source)
        _, noted = found.setdefault(f"{MISSING}:{row.conversation_id}", (about, []))
        if isinstance(row, Extraction):
            noted.append(row)
    return found


def items(rows: AskedRows) -> list[Item]:
    """One item per attribute of a conversation and for what is missing there, per profile, and per pair of replies."""
    profiles: dict[str, list[Relevance]] = defaultdict(list)
    for row in rows.get(Relevance, ()):
        profiles[question_id(row)].append(row)
    return [
        *_of_conversations(rows),
        *(_of_profile(name, own) for name, own in profiles.items()),
        *map(_of_replies, rows.get(Response, ())),
    ]


def question_id(row: JudgedRow) -> str:
    """Id of the item about a row."""
    name = digest_of((row.user_id, row.prompt)) if isinstance(row, Relevance) else row.id
    return f"{row.stage}:{name}"


def _of_conversations(rows: AskedRows) -> Iterator[Item]:
    for name, (about, noted) in noted_in(rows).items():
        for row in noted:
            texts = {"conversation": row.transcript, "attribute": row.attribute, "reason": row.reason}
            yield Item(
                id=question_id(row), user_id=row.user_id, kind=row.stage, block=name, texts=texts, answers=ATTRIBUTE
            )  # fmt: skip
        attributes = "\n".join(f"- {row.attribute}" for row in noted) or "Nothing was noted."
        yield Item(
            id=name, user_id=about.user_id, kind=Extraction.stage, block=name, answers=LACKING, noted=(MISSING,),
            texts={"conversation": about.transcript, "attributes": attributes},
            asks="Does the conversation show more about the user that is worth remembering?",
        )  # fmt: skip


def _of_profile(name: str, own: Sequence[Relevance]) -> Item:
    answers = {str(number): row.attribute for number, row in enumerate(own, start=1)}
    return Item(
        id=name, user_id=own[0].user_id, kind=Relevance.stage, block=name, texts={"prompt": own[0].prompt}, answers=answers, several=True
    )  # fmt: skip


def _of_replies(row: Response) -> Item:
    name = question_id(row)
    return Item(
        id=name, user_id=row.user_id, kind=row.stage, block=name, texts={"attribute": row.attribute, "prompt": row.prompt}, answers=RATING,
        options={"generic": row.generic, "personalized": row.personalized}, mirrored=MIRRORED, faults=True,
    )  # fmt: skip


def votes_of(rows: Iterable[JudgedRow], votes: Iterable[tuple[Item, Vote]]) -> dict[str, dict[str, Any]]:
    """Row id -> people's judgments, in the layout of the row's file, from the votes that count; without rows that nobody judged."""
    of_item: dict[str, list[tuple[Item, Vote]]] = defaultdict(list)
    for item, vote in votes:
        of_item[item.id].append((item, vote))
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        if own := of_item[question_id(row)]:
            found[row.id] = {"votes": [_judgment(row, item, vote.chosen) for item, vote in own]}
            sides = {side: side for side in ("generic", "personalized")}
            if isinstance(row, Response) and (faults := fault_counts((vote for _, vote in own), sides)):
                found[row.id]["faults"] = faults
    return found


def _judgment(row: JudgedRow, question: Item, answer: str) -> object:
    if isinstance(row, Relevance):
        ticked = set(answer.split()) - {NONE}
        return any(question.answers[number] == row.attribute for number in ticked)
    return int(answer) if isinstance(row, Response) else answer
