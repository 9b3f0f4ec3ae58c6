"""The data that the parts of `unchanged.py` run on: the sample of the package, and the General half of the release."""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def sample_folder() -> Path:
    """Of the sample that the package brings."""
    spec = find_spec("personafeedback_tasks")
    assert spec is not None
    assert spec.origin is not None
    (folder,) = {
        path.parents[2]
        for path in Path(spec.origin).parent.rglob("sample/data/general/hard.jsonl")
        if (path.parents[2] / "persona" / "Nora_s01.json").is_file()
    }
    return folder


def release() -> Path:
    """The General half of the release."""
    return Path(os.environ["PERSONAFEEDBACK_DATA"])


def subset(folder: Path, size: int) -> None:
    """Cases of each cell of General, drawn by seed, with two pieces of memory for each user."""
    drawn = random.Random(11)
    shutil.copytree(release() / "persona", folder / "persona")
    users: set[str] = set()
    for path in sorted(release().glob("data/general/*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        kept = [lines[place] for place in sorted(drawn.sample(range(len(lines)), size))]
        users |= {json.loads(line)["user_id"] for line in kept}
        target = folder / "data" / "general" / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
    memories(folder, sorted(users))


def memories(folder: Path, users: Sequence[str]) -> None:
    """For `rag`: the values of each persona as what its user has read."""
    (folder / "memory").mkdir()
    for user in users:
        persona = json.loads((folder / "persona" / f"{user}.json").read_text(encoding="utf-8"))
        texts = [text for text in leaves(persona) if len(text) > 20]
        lines = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
        (folder / "memory" / f"{user}.jsonl").write_text(lines, encoding="utf-8")


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in leaves(item)] if isinstance(value, list) else [str(value)]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def filled_in(path: Path, folder: Path, vote: Callable[[dict[str, str]], dict[str, str]]) -> Path:
    """The table of a pack as its annotator sends it.

    Args:
        folder: where it is put, under its own name.
        vote: a line -> the columns that the annotator fills in.
    """
    with path.open(encoding="utf-8-sig", newline="") as table:
        reader = csv.DictReader(table)
        lines, names = list(reader), list(reader.fieldnames or [])
    folder.mkdir(exist_ok=True)
    target = folder / path.name
    with target.open("w", encoding="utf-8", newline="") as table:
        writer = csv.DictWriter(table, names)
        writer.writeheader()
        writer.writerows(line | vote(line) for line in lines)
    return target
