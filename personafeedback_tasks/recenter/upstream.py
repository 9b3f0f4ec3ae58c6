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
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..common import private
from ..common.errors import DataError
from ..common.records import broken, leaves, short
from .data import file_name
from .fields import MOST_VOTES, Fields, lines
from .rows import Relevance, Response

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
        users: the user ids that were made short.
    """

    files: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    personal: list[str] = field(default_factory=list)
    users: ShortIds = field(default_factory=lambda: ShortIds("u"))

    def add(self, file: str, row: dict[str, Any], where: str) -> None:
        """Add a row unless it holds personal data, which no row of ours may have."""
        for key, value in row.items():
            texts = (text for text in leaves(value) if isinstance(text, str))
            if hit := next(filter(None, map(private.first_in, texts)), None):
                self.personal.append(f"{where}: {hit[0]} in {key}")
                self.left_out["with personal data"] += 1
                return
        self.files.setdefault(file, []).append(row)


class ShortIds:
    """Short ids in place of the authors': digests, so the same on every run. They hide an id from whoever reads them, not from one who tries all ids."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._long: dict[str, str] = {}

    def of(self, long: str) -> str:
        """
        Raises:
            DataError: two ids have the same short one.
        """
        made = f"{self._prefix}{hashlib.sha256(long.encode()).hexdigest()[:8]}"
        if self._long.setdefault(made, long) != long:
            raise DataError(
                f"Found the ids {short(self._long[made])} and {short(long)}, which would both become {made}, expected ids that stay apart. "
                "Rename one of them in all files."
            )
        return made


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
    prompts = ShortIds("p")
    profiles: dict[str, _Profile] = {}
    for path in sorted(folder.glob(PROFILES)):
        for line in lines(path):
            theirs = _id(line, "user_id")
            user, prompt = made.users.of(theirs), prompts.of(_id(line, "prompt_id"))
            profile = _Profile(line.where, f"{user}-{prompt}", theirs, line.text("prompt_text"), _labels(line))
            first = profiles.setdefault(profile.id, profile)
            if first is profile:
                _add_labels(profile, user, made)
            elif first.where.startswith(f"{path}, "):
                raise line.broken(f"the user and prompt of {first.where} again", "each pair of them once")
            else:
                _same_labels(profile, first)
    return list(profiles.values())


def _labels(line: Fields) -> dict[str, bool | None]:
    labels: dict[str, bool | None] = {}
    for item in line.objects("profile_attributes", "attribute"):
        attribute = item.text("attribute")
        if attribute in labels:
            raise item.broken(f"the attribute {short(attribute)} again", "each attribute of a user once")
        labels[attribute] = _label(item, "ground_truth")
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
    for number, line in enumerate(lines(path), start=1):
        if number > len(profiles):
            raise line.broken("a line more than the profiles have", f"{len(profiles)} lines")
        profile = profiles[number - 1]
        _same("user_id", _id(line, "user_id"), profile.user, line.where, profile.where)
        index = [line.row.get("sample_index"), line.row.get("prompt_index")]
        there, expected = numbered.setdefault(number, (line.where, index))
        _same("[sample_index, prompt_index]", index, expected, line.where, there)
        items = line.objects("items", "item")
        _same("the number of items", len(items), len(profile.labels), line.where, profile.where)
        for place, (item, attribute) in enumerate(zip(items, profile.labels, strict=True), start=1):
            _same("attribute", item.text("attribute"), attribute, item.where, profile.where)
            reply = {
                "id": f"{profile.id}-{place}",
                "reply": _reply(item),
                "answer": _label(item, "relevant"),
            }
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


def _reply(item: Fields) -> str:
    """What the model wrote: all of it, or the part that was read, where that is all there is."""
    for key in ("full_output", "raw_answer"):
        value = item.row.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if value is not None and not isinstance(value, str):
            raise item.broken(f"{key} = {short(value)}", "a string or null")
    return ""


def _pilot(path: Path, made: ImportedAnnotations) -> None:
    for number, line in enumerate(lines(path), start=1):
        rate, n = line.value("human_yes_rate"), line.value("n_annotators")
        known = type(n) is int and 1 <= n <= MOST_VOTES and type(rate) in (int, float) and 0 <= rate <= 1
        yes = round(rate * n) if known else 0
        if not known or abs(rate * n - yes) > WHOLE:
            votes = f"human_yes_rate = {short(rate)} of n_annotators = {short(n)}"
            raise line.broken(votes, f"a share of 1 to {MOST_VOTES:,} whole votes")
        label = line.value("label")
        if label != int(2 * yes > n):
            votes = f"label = {short(label)} with {yes} of {n} votes"
            raise line.broken(votes, "1 for more than half of them, else 0")
        counted = {
            "id": f"pilot-{number}",
            "user_id": made.users.of(f"sample {_id(line, 'sample_index')}"),
            "prompt": line.text("prompt_text"),
            "attribute": line.text("attribute"),
            "yes": yes,
            "n": n,
        }
        made.add(SOURCES[PILOT], counted, line.where)


def _items(path: Path, made: ImportedAnnotations) -> None:
    ids = ShortIds("r")
    seen: dict[str, str] = {}
    for line in lines(path):
        id_ = ids.of(json.dumps([_id(line, key) for key in ("model_tag", "item_index")]))
        if id_ in seen:
            raise line.broken(f"the model_tag and item_index of {seen[id_]} again", "each pair of them once")
        seen[id_] = line.where
        attributes = [
            (item.text("attribute"), _label(item, "is_relevant")) for item in line.objects("attributes", "attribute")
        ]
        relevant = [attribute for attribute, is_relevant in attributes if is_relevant]
        if not relevant:
            made.left_out["response items without a relevant attribute"] += 1
            continue
        row = {
            "id": id_,
            "user_id": made.users.of(_id(line, "user_id")),
            "prompt": line.text("prompt_text"),
            "attribute": "\n".join(relevant),
            "generic": line.text("response_no_context"),
            "personalized": line.text("response_personalized"),
        }
        made.add(RESPONSE, row, line.where)


def _label(item: Fields, key: str) -> bool | None:
    label: bool | None = item.checked(
        key, lambda value: value is None or isinstance(value, bool), "true, false or null"
    )
    return label


def _id(line: Fields, key: str) -> str:
    expected = "a non-empty string or a whole number"
    return str(line.checked(key, lambda value: type(value) in (str, int) and str(value).strip(), expected))
