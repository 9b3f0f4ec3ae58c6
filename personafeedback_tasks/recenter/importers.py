"""The authors' annotations (orange0629/personalize-annotation, 9d65d9e) as our rows. Any file may be missing."""

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
from ..common.records import NonEmpty, broken, decoded, rows, short
from .rows import Relevance, Response, personal_in

PROFILES = "task6/eval_results_task5_gt_attributes_*.jsonl"
PILOT = "task3_relevance_clf.jsonl"
ITEMS = "extracted/task6_items.jsonl"


@dataclass
class Imported:
    """The result of an import."""

    files: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # path below the new folder -> its rows
    absent: list[str] = field(default_factory=list)  # the authors' files that the folder lacks
    left_out: Counter[str] = field(default_factory=Counter)  # why -> how many rows

    def add(self, file: str, row: dict[str, Any], where: str) -> None:
        """Add a row unless it holds personal data."""
        if personal := personal_in(row):
            self.left_out[f"with {personal} ({where})"] += 1
        else:
            self.files.setdefault(file, []).append(row)


Id = NonEmpty | int
Line = TypeVar("Line", bound=Struct)


def short_id(kind: str, long: object) -> str:
    """A digest in place of a foreign id. It does not hide the id from somebody who tries all ids."""
    return f"{kind}{hashlib.sha256(str(long).encode()).hexdigest()[:12]}"


class _Attribute(Struct):
    attribute: NonEmpty
    ground_truth: bool | None


class _Profile(Struct):
    user_id: Id
    prompt_id: Id
    prompt_text: NonEmpty
    profile_attributes: tuple[_Attribute, ...]


class _PilotRow(Struct):
    sample_index: Id
    prompt_text: NonEmpty
    attribute: NonEmpty
    label: int
    n_annotators: Annotated[int, Meta(ge=1, le=1000)]
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


def convert(folder: Path) -> Imported:
    """Read the authors' files from their repository or its folder `data`.

    Raises:
        DataError: there are none, one is broken, or two of them disagree.
    """
    if (folder / "data").is_dir():
        folder = folder / "data"
    made = Imported()
    _add_profiles(folder, made)
    for where, line in _lines(folder, PILOT, _PilotRow):
        made.add(f"pilot/{Relevance.file}", _pilot_row(where, line), where)  # apart, so that no score mixes two studies
    for where, item in _lines(folder, ITEMS, _Item):
        _add_pair(where, item, made)
    made.absent += [name for name in (PROFILES, PILOT, ITEMS) if not any(folder.glob(name))]
    if not made.files:
        raise DataError(
            f"{folder}: found no row to import, expected any of {PROFILES}, {PILOT}, {ITEMS}. "
            "Pass the authors' repository, or its folder data."
        )
    return made


def _lines(folder: Path, pattern: str, kind: type[Line]) -> Iterator[tuple[str, Line]]:
    # (place, record) of each line of the files of a pattern
    for path in sorted(folder.glob(pattern)):
        for number, row in rows(path):
            where = f"{path}, line {number}"
            yield where, decoded(where, row, kind)


def _add_profiles(folder: Path, made: Imported) -> None:
    known: dict[str, tuple[str, tuple[Any, ...]]] = {}  # prompt_id -> place and content in the first file that has it
    for where, line in _lines(folder, PROFILES, _Profile):
        labels = {one.attribute: one.ground_truth for one in line.profile_attributes}
        if len(labels) < len(line.profile_attributes):
            raise broken(where, "an attribute twice", "each attribute of a user once")
        content = line.user_id, line.prompt_text, labels
        there, first = known.setdefault(str(line.prompt_id), (where, content))
        if content != first:
            found = f"the prompt_id {short(line.prompt_id)} with another user, prompt or ground truth"
            raise broken(where, found, f"those of {there}")
    for prompt_id, (where, (user_id, prompt, labels)) in known.items():
        user = short_id("u", user_id)
        for number, (attribute, label) in enumerate(labels.items(), start=1):
            if label is None:
                made.left_out["with a ground truth of null"] += 1
                continue
            name = f"{user}-{short_id('p', prompt_id)}-{number}"
            row = {"id": name, "user_id": user, "prompt": prompt, "attribute": attribute, "label": label}
            made.add(Relevance.file, row, where)


def _pilot_row(where: str, line: _PilotRow) -> dict[str, Any]:
    rate, n = line.human_yes_rate, line.n_annotators
    yes = round(rate * n)
    if abs(rate * n - yes) > 1e-6 or line.label != int(2 * yes > n):
        found = f"label = {line.label} with human_yes_rate = {rate} of n_annotators = {n}"
        raise broken(where, found, "a share of whole votes, and 1 for more than half of them, else 0")
    return {
        "id": f"pilot-{where.rpartition(' ')[2]}", "user_id": short_id("u", f"sample {line.sample_index}"),
        "prompt": line.prompt_text, "attribute": line.attribute, "votes": [True] * yes + [False] * (n - yes),
    }  # fmt: skip


def _add_pair(where: str, item: _Item, made: Imported) -> None:
    relevant = [one.attribute for one in item.attributes if one.is_relevant]
    if not relevant:
        made.left_out["response items without a relevant attribute"] += 1
        return
    row = {
        "id": short_id("r", json.dumps([str(item.model_tag), str(item.item_index)])),
        "user_id": short_id("u", item.user_id), "prompt": item.prompt_text, "attribute": "\n".join(relevant),
        "generic": item.response_no_context, "personalized": item.response_personalized,
    }  # fmt: skip
    made.add(Response.file, row, where)
