"""The authors' annotation files -> rows and recorded replies of this project.

Their layout below `data/`, as of commit 9d65d9e of orange0629/personalize-annotation. Any part may be missing, and keys that
are not named here are ignored:

    task6/eval_results_task5_gt_attributes_<model>.jsonl   user_id, prompt_id, prompt_text, profile_attributes [{attribute, ground_truth}]:
                                                           the same ground truth in the file of each model
    relevance_task5/<model>.jsonl                          user_id, prompt_index, items [{attribute, relevant, raw_answer, full_output}]:
                                                           `<user_id>_<prompt_index>` is a prompt_id
    task3_relevance_clf.jsonl                              sample_index, prompt_text, attribute, label, n_annotators, human_yes_rate;
                                                           a sample is one prompt of one user
    extracted/task6_items.jsonl                            model_tag, user_id, item_index, prompt_text, attributes [{attribute, is_relevant}],
                                                           response_no_context, response_personalized

What becomes of them, in a folder that RECENTER_DATA can name:

    relevance.jsonl            people's label of each attribute and prompt; a ground truth of null is left out
    replies/<model>.jsonl      id of such a row, the model's reply, and the answer that the authors read from it
    pilot/relevance.jsonl      the pilot's rows with votes; a folder of its own, so that no score mixes two studies
    response.jsonl             both responses of each item and its relevant attributes, one per line; without votes

Or conversations in WildChat's layout -> users and their conversations. The layout is that of the data cards of WildChat-1M and
WildChat-4.8M, as lines of JSON: conversation_hash, language, conversation [{role, content}] and hashed_ip, which stands for a user.
Other keys are ignored, but for `toxic`. **Not verified**: it was written from the cards alone.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

from msgspec import Meta, Struct

from ..common import private
from ..common.errors import DataError
from ..common.records import NonEmpty, broken, decoded, leaves, one_of, rows, short
from .data import file_name
from .histories import CONVERSATIONS, USERS
from .rows import MOST_VOTES, ROLES, Message, Relevance, Response, conversation_id

RELEVANCE, RESPONSE = file_name(Relevance), file_name(Response)

PROFILES = "task6/eval_results_task5_gt_attributes_*.jsonl"
REPLIES = "relevance_task5/*.jsonl"
PILOT = "task3_relevance_clf.jsonl"
ITEMS = "extracted/task6_items.jsonl"

SOURCES = {PROFILES: RELEVANCE, REPLIES: "replies/", PILOT: f"pilot/{RELEVANCE}", ITEMS: RESPONSE}
"""Their files -> ours."""

WHOLE = 1e-6
"""How far rate times annotators may be from a whole number of votes."""


@dataclass
class ImportedAnnotations:
    """What an import makes.

    Attributes:
        files: path below the new folder -> its rows. None is empty.
        absent: keys of SOURCES that the folder lacks.
        left_out: why -> how many rows.
        personal: the rows among them that hold personal data, each with its place.
    """

    files: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    personal: list[str] = field(default_factory=list)

    def add(self, file: str, row: dict[str, Any], where: str) -> None:
        """Add a row unless it holds personal data, which no row of ours may have."""
        for key, value in row.items():
            texts = (text for text in leaves(value) if isinstance(text, str))
            if hit := next(filter(None, map(private.first_in, texts)), None):
                self.personal.append(f"{where}: {hit[0]} in {key}")
                self.left_out["with personal data"] += 1
                return
        self.files.setdefault(file, []).append(row)


def short_id(kind: str, long: object) -> str:
    """A digest in place of an id of theirs, the same on every run: among ten million ids, two are alike with a chance of 1 in 6.

    It hides the id from whoever reads it, not from one who tries all ids.
    """
    return f"{kind}{hashlib.sha256(str(long).encode()).hexdigest()[:12]}"


Id = NonEmpty | int
"""As their files have it: a text or a number."""


class _Attribute(Struct):
    attribute: NonEmpty
    ground_truth: bool | None


class _ProfileLine(Struct):
    user_id: Id
    prompt_id: Id
    prompt_text: NonEmpty
    profile_attributes: tuple[_Attribute, ...]


class _Reply(Struct):
    attribute: NonEmpty
    relevant: bool | None
    full_output: str | None = None
    raw_answer: str | None = None


class _RepliesLine(Struct):
    user_id: Id
    prompt_index: Id
    items: tuple[_Reply, ...]


class _PilotLine(Struct):
    sample_index: Id
    prompt_text: NonEmpty
    attribute: NonEmpty
    label: int
    n_annotators: Annotated[int, Meta(ge=1, le=MOST_VOTES)]
    human_yes_rate: Annotated[float, Meta(ge=0, le=1)]


class _OfItem(Struct):
    attribute: NonEmpty
    is_relevant: bool | None


class _ItemLine(Struct):
    model_tag: Id
    item_index: Id
    user_id: Id
    prompt_text: NonEmpty
    attributes: tuple[_OfItem, ...]
    response_no_context: NonEmpty
    response_personalized: NonEmpty


L = TypeVar("L")


def lines(path: Path, kind: type[L]) -> Iterator[tuple[str, L]]:
    """(its place, the record) of each line of a file."""
    for number, row in rows(path):
        where = f"{path}, line {number}"
        yield where, decoded(where, row, kind)


class _Profile(NamedTuple):
    """One line of the profiles.

    Attributes:
        id: of its rows, with the attribute's number added.
        labels: attribute -> ground truth, None where people gave none.
    """

    where: str
    id: str
    user: str
    prompt: str
    labels: Mapping[str, bool | None]

    def row_id(self, attribute: str) -> str:
        return f"{self.id}-{list(self.labels).index(attribute) + 1}"


def convert(folder: Path) -> ImportedAnnotations:
    """Read the authors' files.

    Args:
        folder: their repository, or its folder `data`.

    Raises:
        DataError: there are none, one is broken, or two of them disagree.
    """
    if (folder / "data").is_dir():
        folder = folder / "data"
    made = ImportedAnnotations(absent=[name for name in SOURCES if not any(folder.glob(name))])
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


def _profiles(folder: Path, made: ImportedAnnotations) -> dict[str, _Profile]:
    """prompt_id -> its line, of all files of profiles in the order of their names; and a row for each attribute that people labeled."""
    profiles: dict[str, _Profile] = {}
    for path in sorted(folder.glob(PROFILES)):
        for where, line in lines(path, _ProfileLine):
            labels = {item.attribute: item.ground_truth for item in line.profile_attributes}
            if len(labels) < len(line.profile_attributes):
                raise broken(where, "an attribute twice", "each attribute of a user once")
            user = short_id("u", line.user_id)
            id_ = f"{user}-{short_id('p', line.prompt_id)}"
            profile = _Profile(where, id_, user, line.prompt_text, labels)
            first = profiles.setdefault(str(line.prompt_id), profile)
            if (profile.id, profile.prompt, labels) != (first.id, first.prompt, first.labels):
                raise broken(
                    where, f"the prompt_id {short(line.prompt_id)} with another user, prompt or ground truth", f"those of {first.where}"
                )  # fmt: skip
    for profile in profiles.values():
        for number, (attribute, label) in enumerate(profile.labels.items(), start=1):
            if label is None:
                made.left_out["with a ground truth of null"] += 1
                continue
            row = {
                "id": profile.row_id(attribute),
                "user_id": profile.user,
                "prompt": profile.prompt,
                "attribute": attribute,
            }
            made.add(RELEVANCE, {**row, "label": label}, f"{profile.where}, attribute {number}")
    return profiles


def _replies(path: Path, profiles: Mapping[str, _Profile], made: ImportedAnnotations) -> None:
    """A model's replies, each with the id of the row that it is about."""
    kept = {row["id"] for row in made.files.get(RELEVANCE, ())}
    replies = made.files.setdefault(f"replies/{path.name}", [])
    for where, line in lines(path, _RepliesLine):
        profile = profiles.get(f"{line.user_id}_{line.prompt_index}")
        if profile is None:
            raise broken(where, f"prompt {line.prompt_index} of user {short(line.user_id)}", f"one of {PROFILES}")
        for item in line.items:
            if item.attribute not in profile.labels:
                raise broken(where, f"the attribute {short(item.attribute)}", f"one of {profile.where}")
            texts = [text for text in (item.full_output, item.raw_answer) if text and text.strip()]
            # all that the model wrote, or the part that was read, where that is all there is
            reply = {
                "id": profile.row_id(item.attribute), "reply": texts[0] if texts else "", "answer": item.relevant
            }  # fmt: skip
            if reply["id"] in kept:
                replies.append(reply)
            else:
                made.left_out["replies to rows that were left out"] += 1


def _pilot(path: Path, made: ImportedAnnotations) -> None:
    for number, (where, line) in enumerate(lines(path, _PilotLine), start=1):
        rate, n = line.human_yes_rate, line.n_annotators
        yes = round(rate * n)
        if abs(rate * n - yes) > WHOLE:
            raise broken(where, f"human_yes_rate = {rate} of n_annotators = {n}", "a share of whole votes")
        if line.label != int(2 * yes > n):
            raise broken(where, f"label = {line.label} with {yes} of {n} votes", "1 for more than half of them, else 0")
        counted = {
            "id": f"pilot-{number}",
            "user_id": short_id("u", f"sample {line.sample_index}"),
            "prompt": line.prompt_text,
            "attribute": line.attribute,
            "votes": [True] * yes + [False] * (n - yes),
        }
        made.add(SOURCES[PILOT], counted, where)


def _items(path: Path, made: ImportedAnnotations) -> None:
    seen: dict[str, str] = {}
    for where, line in lines(path, _ItemLine):
        id_ = short_id("r", json.dumps([str(line.model_tag), str(line.item_index)]))
        if id_ in seen:
            raise broken(where, f"the model_tag and item_index of {seen[id_]} again", "each pair of them once")
        seen[id_] = where
        relevant = [item.attribute for item in line.attributes if item.is_relevant]
        if not relevant:
            made.left_out["response items without a relevant attribute"] += 1
            continue
        row = {
            "id": id_,
            "user_id": short_id("u", line.user_id),
            "prompt": line.prompt_text,
            "attribute": "\n".join(relevant),
            "generic": line.response_no_context,
            "personalized": line.response_personalized,
        }
        made.add(RESPONSE, row, where)


LANGUAGES = {"English": "en", "Chinese": "zh"}
"""Their names -> ours."""


class _Turn(Struct):
    role: Annotated[str, one_of(*ROLES)]
    content: str | None


class _Chat(Struct):
    hashed_ip: NonEmpty
    conversation: tuple[_Turn, ...]


def convert_wildchat(path: Path, language: str, least: int) -> ImportedAnnotations:
    """Read conversations.

    Args:
        path: lines of JSON.
        language: of LANGUAGES; conversations in others are left out.
        least: conversations that a user must have.

    Raises:
        DataError: a line is broken.
    """
    made = ImportedAnnotations()
    for number, line in rows(path):
        where = f"{path}, line {number}"
        if line.get("language") != language:
            made.left_out[f"in another language than {language}"] += 1
            continue
        if line.get("toxic") is True:
            made.left_out["marked as toxic"] += 1
            continue
        chat = decoded(where, line, _Chat)
        user = short_id("u", chat.hashed_ip)
        turns = [{"role": turn.role, "content": turn.content or ""} for turn in chat.conversation]
        kept = [turn for turn in turns if turn["content"].strip()]
        if len(kept) < len(turns) or "user" not in {turn["role"] for turn in kept}:
            made.left_out["with an empty message, or none of the user"] += 1
            continue
        made.add(CONVERSATIONS, {"user_id": user, "conversation": kept, "source": "human"}, where)
    own: dict[str, dict[str, Any]] = {}
    for one in made.files.pop(CONVERSATIONS, []):
        of_user = own.setdefault(one["user_id"], {})
        name = conversation_id(one["user_id"], [Message(**turn) for turn in one["conversation"]])
        made.left_out["that a user has twice"] += name in of_user
        of_user.setdefault(name, one)
    users = {user: of_user for user, of_user in own.items() if len(of_user) >= least}
    made.left_out[f"of users with fewer than {least}"] += sum(map(len, own.values())) - sum(map(len, users.values()))
    if users:
        made.files[USERS] = [{"user_id": user, "language": LANGUAGES[language]} for user in users]
        made.files[CONVERSATIONS] = [row for of_user in users.values() for row in of_user.values()]
    made.left_out = +made.left_out
    return made
