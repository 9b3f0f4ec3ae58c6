"""The authors' annotations (orange0629/personalize-annotation, 9d65d9e) and WildChat's conversations, as our rows.

Any file may be missing; unknown keys are ignored. WildChat's reader follows the data cards of WildChat-1M and -4.8M.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct

from ..common.errors import DataError
from ..common.records import NonEmpty, broken, decoded, one_of, rows, short
from .rows import MOST_VOTES, ROLES, Conversation, Message, Relevance, Response, conversation_id, personal_in

RELEVANCE, RESPONSE, CONVERSATIONS = Relevance.file, Response.file, Conversation.file

PROFILES = "task6/eval_results_task5_gt_attributes_*.jsonl"
REPLIES = "relevance_task5/*.jsonl"
PILOT = "task3_relevance_clf.jsonl"
ITEMS = "extracted/task6_items.jsonl"

SOURCES = {PROFILES: RELEVANCE, REPLIES: "replies/", PILOT: f"pilot/{RELEVANCE}", ITEMS: RESPONSE}
"""The authors' files -> ours. The pilot has a folder of its own, so that no score mixes two studies."""

LANGUAGES = ("English", "Chinese")
"""WildChat's names."""

LEAST = 4
"""Conversations of WildChat that a user must have."""


@dataclass
class Imported:
    """The result of an import.

    Attributes:
        files: path below the new folder -> its rows.
        absent: keys of SOURCES that the folder lacks.
        left_out: why -> how many rows.
        personal: place and kind of personal data, of rows left out for it.
    """

    files: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    personal: list[str] = field(default_factory=list)

    def add(self, file: str, row: dict[str, Any], where: str) -> None:
        """Add a row unless it holds personal data."""
        if found := personal_in(row):
            key, kind, _ = found
            self.personal.append(f"{where}: {kind} in {key}")
            self.left_out["with personal data"] += 1
        else:
            self.files.setdefault(file, []).append(row)


def short_id(kind: str, long: object) -> str:
    """A digest in place of a foreign id. It does not hide the id from somebody who tries all ids."""
    return f"{kind}{hashlib.sha256(str(long).encode()).hexdigest()[:12]}"


Id = NonEmpty | int
Line = TypeVar("Line", bound=Struct)


class _Attribute(Struct):
    attribute: NonEmpty
    ground_truth: bool | None


class _Profile(Struct):
    user_id: Id
    prompt_id: Id
    prompt_text: NonEmpty
    profile_attributes: tuple[_Attribute, ...]

    @property
    def labels(self) -> dict[str, bool | None]:
        return {item.attribute: item.ground_truth for item in self.profile_attributes}

    def row_id(self, attribute: str) -> str:
        number = list(self.labels).index(attribute) + 1
        return f"{short_id('u', self.user_id)}-{short_id('p', self.prompt_id)}-{number}"


class _Reply(Struct):
    attribute: NonEmpty
    relevant: bool | None
    full_output: str | None = None
    raw_answer: str | None = None


class _Replies(Struct):
    user_id: Id
    prompt_index: Id
    items: tuple[_Reply, ...]


class _PilotRow(Struct):
    sample_index: Id
    prompt_text: NonEmpty
    attribute: NonEmpty
    label: int
    n_annotators: Annotated[int, Meta(ge=1, le=MOST_VOTES)]
    human_yes_rate: Annotated[float, Meta(ge=0, le=1)]


class _ItemAttribute(Struct):
    attribute: NonEmpty
    is_relevant: bool | None


class _Item(Struct):
    model_tag: Id
    item_index: Id
    user_id: Id
    prompt_text: NonEmpty
    attributes: tuple[_ItemAttribute, ...]
    response_no_context: NonEmpty
    response_personalized: NonEmpty


def lines(path: Path, kind: type[Line]) -> Iterator[tuple[str, Line]]:
    """(place, record) of each line of a file."""
    for number, row in rows(path):
        where = f"{path}, line {number}"
        yield where, decoded(where, row, kind)


def convert(folder: Path) -> Imported:
    """Read the authors' files from their repository or its folder `data`.

    Raises:
        DataError: there are none, one is broken, or two of them disagree.
    """
    if (folder / "data").is_dir():
        folder = folder / "data"
    made = Imported(absent=[name for name in SOURCES if not any(folder.glob(name))])
    profiles = _profiles(folder, made)
    for path in sorted(folder.glob(REPLIES)):
        if profiles:
            _replies(path, profiles, made)
        else:
            made.left_out[f"files of replies, which need {PROFILES}"] += 1
    for name, read in ((PILOT, _pilot), (ITEMS, _items)):
        if name not in made.absent:
            read(folder / name, made)
    made.files = {name: rows for name, rows in made.files.items() if rows}
    if not made.files:
        raise DataError(
            f"{folder}: found no row to import, expected any of {', '.join(SOURCES)}. "
            "Pass the authors' repository, or its folder data."
        )
    return made


def _profiles(folder: Path, made: Imported) -> dict[str, tuple[str, _Profile]]:
    # prompt_id -> place and line in the first file that has it
    profiles: dict[str, tuple[str, _Profile]] = {}
    for path in sorted(folder.glob(PROFILES)):
        for where, line in lines(path, _Profile):
            if len(line.labels) < len(line.profile_attributes):
                raise broken(where, "an attribute twice", "each attribute of a user once")
            there, first = profiles.setdefault(str(line.prompt_id), (where, line))
            if (line.user_id, line.prompt_text, line.labels) != (first.user_id, first.prompt_text, first.labels):
                found = f"the prompt_id {short(line.prompt_id)} with another user, prompt or ground truth"
                raise broken(where, found, f"those of {there}")
    for where, line in profiles.values():
        for number, (attribute, label) in enumerate(line.labels.items(), start=1):
            if label is None:
                made.left_out["with a ground truth of null"] += 1
                continue
            row = {
                "id": line.row_id(attribute), "user_id": short_id("u", line.user_id), "prompt": line.prompt_text, "attribute": attribute,
                "label": label,
            }  # fmt: skip
            made.add(RELEVANCE, row, f"{where}, attribute {number}")
    return profiles


def _replies(path: Path, profiles: dict[str, tuple[str, _Profile]], made: Imported) -> None:
    kept = {row["id"] for row in made.files.get(RELEVANCE, ())}
    replies = made.files.setdefault(f"replies/{path.name}", [])
    for where, line in lines(path, _Replies):
        if (name := f"{line.user_id}_{line.prompt_index}") not in profiles:
            raise broken(where, f"prompt {line.prompt_index} of user {short(line.user_id)}", f"one of {PROFILES}")
        there, profile = profiles[name]
        for item in line.items:
            if item.attribute not in profile.labels:
                raise broken(where, f"the attribute {short(item.attribute)}", f"one of {there}")
            # all that the model wrote, or the part that was read, where that is all there is
            texts = [text for text in (item.full_output, item.raw_answer) if text and text.strip()]
            row_id = profile.row_id(item.attribute)
            if row_id in kept:
                replies.append({"id": row_id, "reply": texts[0] if texts else "", "answer": item.relevant})
            else:
                made.left_out["replies to rows that were left out"] += 1


def _pilot(path: Path, made: Imported) -> None:
    for number, (where, line) in enumerate(lines(path, _PilotRow), start=1):
        rate, n = line.human_yes_rate, line.n_annotators
        yes = round(rate * n)
        if abs(rate * n - yes) > 1e-6:
            raise broken(where, f"human_yes_rate = {rate} of n_annotators = {n}", "a share of whole votes")
        if line.label != int(2 * yes > n):
            raise broken(where, f"label = {line.label} with {yes} of {n} votes", "1 for more than half of them, else 0")
        row = {
            "id": f"pilot-{number}", "user_id": short_id("u", f"sample {line.sample_index}"), "prompt": line.prompt_text,
            "attribute": line.attribute, "votes": [True] * yes + [False] * (n - yes),
        }  # fmt: skip
        made.add(SOURCES[PILOT], row, where)


def _items(path: Path, made: Imported) -> None:
    seen: dict[str, str] = {}
    for where, line in lines(path, _Item):
        id_ = short_id("r", json.dumps([str(line.model_tag), str(line.item_index)]))
        if id_ in seen:
            raise broken(where, f"the model_tag and item_index of {seen[id_]} again", "each pair of them once")
        seen[id_] = where
        relevant = [item.attribute for item in line.attributes if item.is_relevant]
        if not relevant:
            made.left_out["response items without a relevant attribute"] += 1
            continue
        row = {
            "id": id_, "user_id": short_id("u", line.user_id), "prompt": line.prompt_text, "attribute": "\n".join(relevant),
            "generic": line.response_no_context, "personalized": line.response_personalized,
        }  # fmt: skip
        made.add(RESPONSE, row, where)


class _Turn(Struct):
    role: Annotated[str, one_of(*ROLES)]
    content: str | None


class _Chat(Struct):
    hashed_ip: NonEmpty  # stands for a user
    conversation: tuple[_Turn, ...]


def convert_wildchat(path: Path, language: str) -> Imported:
    """Read conversations of one language in WildChat's layout, as lines of JSON. DataError if none is left."""
    made = Imported()
    for number, line in rows(path):
        where = f"{path}, line {number}"
        if line.get("language") != language:
            made.left_out[f"in another language than {language}"] += 1
            continue
        if line.get("toxic") is True:
            made.left_out["marked as toxic"] += 1
            continue
        chat = decoded(where, line, _Chat)
        turns = [{"role": turn.role, "content": turn.content or ""} for turn in chat.conversation]
        if not all(turn["content"].strip() for turn in turns) or "user" not in {turn["role"] for turn in turns}:
            made.left_out["with an empty message, or none of the user"] += 1
            continue
        made.add(
            CONVERSATIONS, {"user_id": short_id("u", chat.hashed_ip), "conversation": turns, "source": "human"}, where
        )
    of_user: dict[str, dict[str, dict[str, Any]]] = {}
    for row in made.files.pop(CONVERSATIONS, []):
        own = of_user.setdefault(row["user_id"], {})
        name = conversation_id(row["user_id"], [Message(**turn) for turn in row["conversation"]])
        if own.setdefault(name, row) is not row:
            made.left_out["that a user has twice"] += 1
    for own in of_user.values():
        if len(own) < LEAST:
            made.left_out[f"of users with fewer than {LEAST}"] += len(own)
        else:
            made.files.setdefault(CONVERSATIONS, []).extend(own.values())
    if not made.files:
        left = ", ".join(f"{count:,} {why}" for why, count in made.left_out.items())
        raise DataError(
            f"{path}: found no conversation to import (left out: {left}), expected some. Pass another --language."
        )
    return made
