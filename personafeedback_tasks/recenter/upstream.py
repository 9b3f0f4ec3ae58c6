"""The authors' annotation files -> rows and recorded replies of this project.

Their layout, of which any part may be missing; keys that are not named here are passed over:

    task6/eval_results_task5_gt_attributes_*.jsonl   user_id, prompt_id, prompt_text, profile_attributes [{attribute, ground_truth}]
    relevance_task5/<model>.jsonl                    user_id, prompt_index, items [{attribute, relevant, raw_answer, full_output}]
    [extracted/]task3_relevance_clf.jsonl            user_id, prompt_text, attribute, a rate of yes, a number of votes
    extracted/task6_items.jsonl                      model_tag, user_id, item_index, prompt_text, attributes [{attribute, is_relevant}],
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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..common.errors import DataError
from ..common.strict_json import broken, rows, short, short_list
from . import private
from .data import file_name
from .fields import MOST_VOTES
from .rows import Relevance, Response

PROFILES = "task6/eval_results_task5_gt_attributes_*.jsonl"
REPLIES = "relevance_task5/*.jsonl"
PILOT = ("task3_relevance_clf.jsonl", "extracted/task3_relevance_clf.jsonl")
ITEMS = "extracted/task6_items.jsonl"

RELEVANCE, RESPONSE = file_name(Relevance), file_name(Response)

RATES = ("vote_rate", "yes_rate", "relevance_rate", "relevant_rate", "rate")
NUMBERS = ("n_votes", "num_votes", "n_annotators", "num_annotators", "n")
PROMPTS = ("prompt_text", "prompt")
"""Names that a key may have: exactly one of them must be there."""

ROUNDED = 0.0051
"""How far a rate may be from votes / number: rates are written with two digits at least."""


@dataclass
class Imported:
    """What an import makes.

    Attributes:
        files: path below the new folder -> its rows. None is empty.
        left_out: why -> how many rows.
        personal: the rows among them that hold personal data, each with its place.
        users: the user ids that were made short.
    """

    files: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    personal: list[str] = field(default_factory=list)
    users: ShortIds = field(default_factory=lambda: ShortIds("u"))

    def add(self, file: str, row: dict[str, Any], where: str) -> None:
        """Add a row unless it holds personal data, which no row of ours may have."""
        for key, value in row.items():
            if isinstance(value, str) and (hit := private.found(value)):
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


@dataclass(frozen=True)
class _Profile:
    """One line of the profiles: the authors' id of its user, and the ids of its attributes' rows; None where people gave no label."""

    where: str
    user: str
    attributes: tuple[str, ...]
    ids: tuple[str | None, ...]


def convert(folder: Path) -> Imported:
    """Read the authors' files in a folder.

    Raises:
        DataError: there are none, one is broken, or rows do not line up between files.
    """
    made = Imported()
    profiles = list(_profiles(folder, made))
    replies = sorted(folder.glob(REPLIES))
    if replies and not profiles:
        raise DataError(
            f"{folder}: found {REPLIES} without {PROFILES}, expected both. Add the file that the replies are about."
        )
    numbered: dict[int, tuple[str, object]] = {}
    for path in replies:
        _replies(path, profiles, numbered, made)
    _pilot(folder, made)
    _items(folder / ITEMS, made)
    made.files = {name: found for name, found in made.files.items() if found}
    if not made.files:
        names = ", ".join((PROFILES, REPLIES, " or ".join(PILOT), ITEMS))
        raise DataError(
            f"{folder}: found no row to import, expected any of {names}. Pass the root of the authors' repository."
        )
    return made


def lines(found: list[dict[str, Any]]) -> Iterator[str]:
    """Rows as lines of JSON."""
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in found)


def _profiles(folder: Path, made: Imported) -> Iterator[_Profile]:
    """The lines of all files of profiles, in the order of their names."""
    prompts = ShortIds("p")
    seen: dict[tuple[str, str], str] = {}
    for path in sorted(folder.glob(PROFILES)):
        for line, row in rows(path):
            where = f"{path}, line {line}"
            theirs = _id(row, "user_id", where)
            user, prompt = made.users.of(theirs), prompts.of(_id(row, "prompt_id", where))
            if (user, prompt) in seen:
                raise broken(where, f"the user and prompt of {seen[user, prompt]} again", "each pair of them once")
            seen[user, prompt] = where
            text = _text(row, "prompt_text", where)
            attributes, ids = [], []
            for number, of in enumerate(_list(row, "profile_attributes", where), start=1):
                place = f"{where}, attribute {number}"
                attributes.append(_text(of, "attribute", place))
                label = _boolean_or_null(of, "ground_truth", place)
                ids.append(None if label is None else f"{user}-{prompt}-{number}")
                if label is None:
                    made.left_out["with a ground truth of null"] += 1
                else:
                    who = {"id": ids[-1], "user_id": user}
                    made.add(RELEVANCE, {**who, "prompt": text, "attribute": attributes[-1], "label": label}, place)
            yield _Profile(where, theirs, tuple(attributes), tuple(ids))


def _replies(path: Path, profiles: list[_Profile], numbered: dict[int, tuple[str, object]], made: Imported) -> None:
    """A model's replies, line by line those of the profiles.

    Args:
        numbered: line -> where a model's file was numbered first, and how; all of them must be numbered alike.
    """
    kept = {row["id"] for row in made.files.get(RELEVANCE, ())}
    found = made.files.setdefault(f"replies/{path.name}", [])
    number = 0
    for number, row in rows(path):
        where = f"{path}, line {number}"
        if number > len(profiles):
            raise broken(where, "a line more than the profiles have", f"{len(profiles)} lines")
        profile = profiles[number - 1]
        _same("user_id", _id(row, "user_id", where), profile.user, where, profile.where)
        index = [row.get("sample_index"), row.get("prompt_index")]
        there, expected = numbered.setdefault(number, (where, index))
        _same("[sample_index, prompt_index]", index, expected, where, there)
        items = _list(row, "items", where)
        _same("the number of items", len(items), len(profile.attributes), where, profile.where)
        for place, item in enumerate(items, start=1):
            at = f"{where}, item {place}"
            _same("attribute", _text(item, "attribute", at), profile.attributes[place - 1], at, profile.where)
            reply = {
                "id": profile.ids[place - 1],
                "reply": _reply(item, at),
                "answer": _boolean_or_null(item, "relevant", at),
            }
            if reply["id"] in kept:
                found.append(reply)
            else:
                made.left_out["replies to rows that were left out"] += 1
    if number < len(profiles):
        raise broken(
            str(path),
            f"{number} lines",
            f"{len(profiles)}, as the profiles have: {profiles[number].where} is the next one",
        )


def _same(what: str, found: object, expected: object, where: str, there: str) -> None:
    """Raise DataError with the row where two files do not line up."""
    if found != expected:
        raise broken(where, f"{what} = {short(found)}", f"{short(expected)}, as in {there}")


def _reply(item: Mapping[str, Any], where: str) -> str:
    """What the model wrote: all of it, or the part that was read, where that is all there is."""
    for key in ("full_output", "raw_answer"):
        value = item.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if value is not None and not isinstance(value, str):
            raise broken(where, f"{key} = {short(value)}", "a string or null")
    return ""


def _pilot(folder: Path, made: Imported) -> None:
    there = [folder / name for name in PILOT if (folder / name).is_file()]
    if len(there) > 1:
        raise DataError(
            f"{' and '.join(map(str, there))}: found both, expected one. Remove the file that does not belong."
        )
    for path in there:
        for line, row in rows(path):
            where = f"{path}, line {line}"
            rate = _number(row, RATES, where)
            n = _number(row, NUMBERS, where)
            yes = round(rate * n)
            if not 1 <= n <= MOST_VOTES or n != int(n) or not 0 <= yes <= n or abs(yes / n - rate) > ROUNDED:
                raise broken(where, f"a rate of {rate} with {n} votes", "a rate that whole votes have")
            made.add(
                f"pilot/{RELEVANCE}",
                {
                    "id": f"pilot-{line}",
                    "user_id": made.users.of(_id(row, "user_id", where)),
                    "prompt": _text(row, _named(row, PROMPTS, where), where),
                    "attribute": _text(row, "attribute", where),
                    "yes": yes,
                    "n": int(n),
                },
                where,
            )


def _items(path: Path, made: Imported) -> None:
    if not path.is_file():
        return
    ids = ShortIds("r")
    seen: dict[str, str] = {}
    for line, row in rows(path):
        where = f"{path}, line {line}"
        id_ = ids.of(json.dumps([_id(row, key, where) for key in ("model_tag", "item_index")]))
        if id_ in seen:
            raise broken(where, f"the model_tag and item_index of {seen[id_]} again", "each pair of them once")
        seen[id_] = where
        relevant = []
        for number, of in enumerate(_list(row, "attributes", where), start=1):
            place = f"{where}, attribute {number}"
            text = _text(of, "attribute", place)
            if _boolean_or_null(of, "is_relevant", place):
                relevant.append(text)
        if not relevant:
            made.left_out["response items without a relevant attribute"] += 1
            continue
        added = {
            "id": id_,
            "user_id": made.users.of(_id(row, "user_id", where)),
            "prompt": _text(row, "prompt_text", where),
            "attribute": "\n".join(relevant),
            "generic": _text(row, "response_no_context", where),
            "personalized": _text(row, "response_personalized", where),
        }
        made.add(RESPONSE, added, where)


def _value(row: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in row:
        raise broken(where, f"no {key!r} (keys: {short_list(row) or 'none'})", f"the key {key!r}")
    return row[key]


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    value = _value(row, key, where)
    if not isinstance(value, str) or not value.strip():
        raise broken(where, f"{key} = {short(value)}", "a non-empty string")
    return value


def _id(row: Mapping[str, Any], key: str, where: str) -> str:
    value = _value(row, key, where)
    if isinstance(value, bool) or not isinstance(value, (str, int)) or not str(value).strip():
        raise broken(where, f"{key} = {short(value)}", "a non-empty string or a whole number")
    return str(value)


def _list(row: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    value = _value(row, key, where)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise broken(where, f"{key} = {short(value)}", "a list of objects")
    return value


def _boolean_or_null(row: Mapping[str, Any], key: str, where: str) -> bool | None:
    value = _value(row, key, where)
    if value is not None and not isinstance(value, bool):
        raise broken(where, f"{key} = {short(value)}", "true, false or null")
    return value


def _named(row: Mapping[str, Any], names: tuple[str, ...], where: str) -> str:
    there = [name for name in names if name in row]
    if len(there) != 1:
        found = short_list(there) if there else f"none of them (keys: {short_list(row) or 'none'})"
        raise broken(where, found, f"exactly one of {', '.join(names)}")
    return there[0]


def _number(row: Mapping[str, Any], names: tuple[str, ...], where: str) -> float:
    key = _named(row, names, where)
    value = row[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise broken(where, f"{key} = {short(value)}", "a number")
    return value
