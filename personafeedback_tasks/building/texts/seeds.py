"""A team's first files: settings, prompts and examples, which `build init` writes, and a pool of questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from ...common.errors import DataError
from ...common.files import Content, write_all
from ...common.records import broken, decoded, rows
from .. import settings
from ..build import Build
from ..settings import Settings
from ..steps import INIT
from . import prompts
from .checks import LONGEST, words

FILE, POOL = "seeds.jsonl", "pool.jsonl"
NAMES, SCENARIOS, EXAMPLES = "names.csv", "scenarios.csv", "examples.jsonl"

SHORTEST = 4
"""Words of a pool's question at least, and at most `checks.LONGEST`: others cannot be answered without more."""


def start(build: Build, language: str | None = None) -> tuple[list[Path], list[Path]]:
    """Write the missing files of a build. A new one to which a team brought persona/ writes no other personas.

    Args:
        language: of the set; if None that of an existing build.toml, else English.

    Returns:
        (files written, files already there).

    Raises:
        OptionError: the language is invalid.
        DataError: an existing build.toml is broken.
    """
    root, chosen = build.root, Settings.of_options(language=language)
    path = root / settings.FILE
    if path.exists():
        chosen = build.settings
    elif any((root / "persona").glob("*.json")):
        chosen = replace(chosen, personas=0)
    contents: dict[Path, Content] = {path: chosen.as_toml()}
    for folder, place in ((prompts.FOLDER, root / prompts.FOLDER), (prompts.GIVEN, root)):
        contents |= {place / name: text for name, text in prompts.bundled(folder, chosen.language).items()}
    present = [path for path in contents if path.exists()]
    missing = {path: content for path, content in contents.items() if path not in present}
    write_all(missing)
    return list(missing), present


Share = Annotated[float, msgspec.Meta(gt=0, lt=1e9)]
"""How often a line of a table is drawn, relative to the others."""


class Listed(tuple[str, ...]):
    """Texts in a cell of a table, with | between them."""


def listed(_: type, cell: str) -> Listed:
    """Read such a cell."""
    return Listed(filter(None, map(str.strip, cell.split("|"))))


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


def pool(root: Path) -> tuple[list[str], int]:
    """(different questions of the pool, number of those too short or too long). Raises DataError without a pool."""
    path = given(root, POOL, 'one {"question": "..."} per line, for general questions (or general = 0 in build.toml)')
    texts = [" ".join(decoded(f"{path}, line {number}", row, _Asked).question.split()) for number, row in rows(path)]
    fitting = [text for text in texts if SHORTEST <= words(text) <= LONGEST]
    return list(dict.fromkeys(fitting)), len(texts) - len(fitting)


def given(root: Path, name: str, expected: str) -> Path:
    """The path of a file from the team. Raises DataError if it is missing, naming the `expected` content."""
    path = root / name
    if not path.is_file():
        raise DataError(
            f"{path}: there is no such file, expected {expected}. Write it, or start with: {INIT.command(root)}"
        )
    return path
