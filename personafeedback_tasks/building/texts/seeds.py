"""A team's first files: seeds.jsonl, profiles for personas; pool.jsonl, questions that people asked; and examples until a team has its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Any

import msgspec

from ...common.errors import DataError
from ...common.records import broken, decoded, rows, short
from ..steps import command
from .checks import LONGEST
from .languages import words
from .prompts import LANGUAGES

FILE, POOL = "seeds.jsonl", "pool.jsonl"
NAMES, SCENARIOS, EXAMPLES = "names.csv", "scenarios.csv", "examples.jsonl"

SHORTEST = 4
"""Words of a pool's question, up to `checks.LONGEST`, see `languages.words`. What is outside is no question that can be answered without more."""

_FOLDER = "given"


def examples(language: str) -> dict[str, str]:
    """Name of a file -> its example text. names.csv exists for LANGUAGES only."""
    code = language if language in LANGUAGES else LANGUAGES[0]
    folder = files(__package__).joinpath(_FOLDER).joinpath(code)
    paths = sorted(folder.iterdir(), key=lambda path: path.name)
    return {path.name: path.read_text(encoding="utf-8") for path in paths if code == language or path.name != NAMES}


def are_examples(profiles: Sequence[Mapping[str, Any]]) -> int:
    """Number of seeds that `build init` wrote."""
    known = [json.loads(line) for code in LANGUAGES for line in examples(code)[FILE].splitlines()]
    return sum(profile in known for profile in profiles)


def share_in(text: str, where: str) -> float:
    """Share in a table. Raises DataError for anything but a number above 0."""
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < inf:
        raise DataError(f"{where}: found share = {short(text)}, expected a number above 0. Fix it, or remove the line.")
    return share


def seeds(root: Path) -> list[dict[str, Any]]:
    """The seed profiles of a build. Raises DataError if there are none, or one is no object with a value."""
    path = given(root, FILE, "one JSON object per line, each a short profile of a user")
    profiles = []
    for number, row in rows(path):
        if not row:
            raise broken(f"{path}, line {number}", "an empty object", "a profile")
        profiles.append(row)
    return profiles


class _Asked(msgspec.Struct):
    """A line of pool.jsonl."""

    question: str


def pool(root: Path) -> tuple[list[str], dict[str, int]]:
    """(different questions of a build's pool, reason -> number left out). Raises DataError if there is no pool, or a line has no question."""
    path = given(root, POOL, 'one {"question": "..."} per line, for general questions (or general: 0 in build.yaml)')
    questions: dict[str, None] = {}
    left_out = {"too short": 0, "too long": 0, "there twice": 0}
    for number, row in rows(path):
        text = " ".join(decoded(f"{path}, line {number}", row, _Asked).question.split())
        if words(text) < SHORTEST:
            left_out["too short"] += 1
        elif words(text) > LONGEST:
            left_out["too long"] += 1
        elif text in questions:
            left_out["there twice"] += 1
        else:
            questions[text] = None
    return list(questions), {why: count for why, count in left_out.items() if count}


def given(root: Path, name: str, expected: str) -> Path:
    """The path of a file from the team. Raises DataError if it is missing, naming the `expected` content."""
    path = root / name
    if not path.is_file():
        raise DataError(
            f"{path}: there is no such file, expected {expected}. Write it, or start with: {command('init', root)}"
        )
    return path
