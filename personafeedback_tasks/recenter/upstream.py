"""The authors' annotation files -> rows and recorded replies of this project.

Their layout below `data/`, as of commit 9d65d9e of orange0629/personalize-annotation. Any part may be missing, and keys that
are not named here are ignored:

    task6/eval_results_task5_gt_attributes_<model>.jsonl   user_id, prompt_id, prompt_text, profile_attributes [{attribute, ground_truth}]:
                                                           the same ground truth in the file of each model
    relevance_task5/<model>.jsonl                          user_id, prompt_index, items [{attribute, relevant, raw_answer, full_output}]
    task3_relevance_clf.jsonl                              sample_index, prompt_text, attribute, label, n_annotators, human_yes_rate;
                                                           a sample is one prompt of one user
    extracted/task6_items.jsonl                            model_tag, user_id, item_index, prompt_text, attributes [{attribute, is_relevant}],
                                                           response_no_context, response_personalized

What becomes of them, in a folder that RECENTER_DATA can name:

    relevance.jsonl            people's label of each attribute and prompt; a ground truth of null is left out
    replies/<model>.jsonl      id of such a row, the model's reply, and the answer that the authors read from it
    pilot/relevance.jsonl      the pilot's rows with counts; a folder of its own, so that no score mixes two studies
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
        ids: a short id -> the one that it stands for.
    """

    files: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    personal: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)

    def add(self, file: str, row: dict[str, Any], where: str) -> None:
        """Add a row unless it holds personal data, which no row of ours may have."""
        for key, value in row.items():
            texts = (text for text in leaves(value) if isinstance(text, str))
            if hit := next(filter(None, map(private.first_in, texts)), None):
                self.personal.append(f"{where}: {hit[0]} in {key}")
                self.left_out["with personal data"] += 1
                return
        self.files.setdefault(file, []).append(row)

    def short(self, kind: str, long: object) -> str:
        """A digest in place of the authors' id, so the same on every run. It hides the id from whoever reads it, not from one who tries all ids.

        Raises:
            DataError: two ids have the same short one.
        """
        made = f"{kind}{hashlib.sha256(str(long).encode()).hexdigest()[:8]}"
        if (first := self.ids.setdefault(made, str(long))) != str(long):
            raise DataError(
                f"Found the ids {short(first)} and {short(long)}, which would both become {made}, expected ids that stay apart. "
                "Rename one of them in all files."
            )
        return made


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
    items: tuple[_Reply, ...]
    sample_index: Any = None
    prompt_index: Any = None


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


def convert(folder: Path) -> ImportedAnnotations:
    """Read the authors' files.

    Args:
        folder: their repository, or its folder `data`.

    Raises:
        DataError: there are none, one is broken, or rows do not line up between files.
    """
    if (folder / "data").is_dir():
        folder = folder / "data"
    made = ImportedAnnotations(absent=[name for name in SOURCES if not any(folder.glob(name))])
    profiles = _profiles(folder, made)
    numbered: dict[int, tuple[str, object]] = {}
    for path in sorted(folder.glob(REPLIES)):
        if profiles:
            _replies(path, profiles, numbered, made)
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


def _profiles(folder: Path, made: ImportedAnnotations) -> list[_Profile]:
    """The lines of all files of profiles, in the order of their names. What an earlier file has already must have the same labels."""
    profiles: dict[str, _Profile] = {}
    for path in sorted(folder.glob(PROFILES)):
        for where, line in lines(path, _ProfileLine):
            theirs = str(line.user_id)
            user, prompt = made.short("u", theirs), made.short("p", line.prompt_id)
            profile = _Profile(where, f"{user}-{prompt}", theirs, line.prompt_text, _labels(where, line))
            first = profiles.setdefault(profile.id, profile)
            if first is profile:
                _add_labels(profile, user, made)
            elif first.where.startswith(f"{path}, "):
                raise broken(where, f"the user and prompt of {first.where} again", "each pair of them once")
            else:
                _same_labels(profile, first)
    return list(profiles.values())


def _labels(where: str, line: _ProfileLine) -> dict[str, bool | None]:
    labels: dict[str, bool | None] = {}
    for number, item in enumerate(line.profile_attributes, start=1):
        if item.attribute in labels:
            found = f"the attribute {short(item.attribute)} again"
            raise broken(f"{where}, attribute {number}", found, "each attribute of a user once")
        labels[item.attribute] = item.ground_truth
    return labels


def _add_labels(profile: _Profile, user: str, made: ImportedAnnotations) -> None:
    """A row for each attribute that people labeled."""
    for number, (attribute, label) in enumerate(profile.labels.items(), start=1):
        if label is None:
            made.left_out["with a ground truth of null"] += 1
            continue
        who = {"id": f"{profile.id}-{number}", "user_id": user}
        row = {**who, "prompt": profile.prompt, "attribute": attribute, "label": label}
        made.add(RELEVANCE, row, f"{profile.where}, attribute {number}")


def _same_labels(profile: _Profile, first: _Profile) -> None:
    """Raise DataError where two files disagree on a user and prompt."""
    _same("prompt_text", profile.prompt, first.prompt, profile.where, first.where)
    _same("the attributes", sorted(profile.labels), sorted(first.labels), profile.where, first.where)
    for attribute, label in profile.labels.items():
        _same(f"the ground_truth of {short(attribute)}", label, first.labels[attribute], profile.where, first.where)


def _replies(
    path: Path, profiles: list[_Profile], numbered: dict[int, tuple[str, object]], made: ImportedAnnotations
) -> None:
    """A model's replies, line by line those of the profiles.

    Args:
        numbered: line -> where a model's file was numbered first, and how; all of them must be numbered alike.
    """
    kept = {row["id"] for row in made.files.get(RELEVANCE, ())}
    replies = made.files.setdefault(f"replies/{path.name}", [])
    number = 0
    for number, (where, line) in enumerate(lines(path, _RepliesLine), start=1):
        if number > len(profiles):
            raise broken(where, "a line more than the profiles have", f"{len(profiles)} lines")
        profile = profiles[number - 1]
        _same("user_id", str(line.user_id), profile.user, where, profile.where)
        index = [line.sample_index, line.prompt_index]
        there, expected = numbered.setdefault(number, (where, index))
        _same("[sample_index, prompt_index]", index, expected, where, there)
        _same("the number of items", len(line.items), len(profile.labels), where, profile.where)
        for place, (item, attribute) in enumerate(zip(line.items, profile.labels, strict=True), start=1):
            _same("attribute", item.attribute, attribute, f"{where}, item {place}", profile.where)
            texts = [text for text in (item.full_output, item.raw_answer) if text and text.strip()]
            # all that the model wrote, or the part that was read, where that is all there is
            reply = {"id": f"{profile.id}-{place}", "reply": texts[0] if texts else "", "answer": item.relevant}
            if reply["id"] in kept:
                replies.append(reply)
            else:
                made.left_out["replies to rows that were left out"] += 1
    if number < len(profiles):
        expected = f"{len(profiles)}, as the profiles have: {profiles[number].where} is the next one"
        raise broken(str(path), f"{number} lines", expected)


def _same(what: str, found: object, expected: object, where: str, there: str) -> None:
    """Raise DataError with the row where two files do not line up."""
    if found != expected:
        raise broken(where, f"{what} = {short(found)}", f"{short(expected)}, as in {there}")


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
            "user_id": made.short("u", f"sample {line.sample_index}"),
            "prompt": line.prompt_text,
            "attribute": line.attribute,
            "yes": yes,
            "n": n,
        }
        made.add(SOURCES[PILOT], counted, where)


def _items(path: Path, made: ImportedAnnotations) -> None:
    seen: dict[str, str] = {}
    for where, line in lines(path, _ItemLine):
        id_ = made.short("r", json.dumps([str(line.model_tag), str(line.item_index)]))
        if id_ in seen:
            raise broken(where, f"the model_tag and item_index of {seen[id_]} again", "each pair of them once")
        seen[id_] = where
        relevant = [item.attribute for item in line.attributes if item.is_relevant]
        if not relevant:
            made.left_out["response items without a relevant attribute"] += 1
            continue
        row = {
            "id": id_,
            "user_id": made.short("u", line.user_id),
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
        user = made.short("u", chat.hashed_ip)
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
