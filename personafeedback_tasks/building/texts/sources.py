"""A team's first files: what `build init` writes, and what texts are made from: seeds, a pool, and three tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from ...common.errors import DataError
from ...common.files import Content, write_all
from ...common.records import NonEmpty, broken, rows
from ...common.row_files import columns, table
from ...personafeedback.persona import Persona
from .. import settings
from ..build import Build
from ..settings import Settings
from ..steps import INIT
from . import prompts
from .checks import IDEOGRAPH, LONGEST, words

SEEDS, POOL = "seeds.jsonl", "pool.jsonl"
NAMES, SCENARIOS, EXAMPLES = "names.csv", "scenarios.csv", "examples.jsonl"

SHORTEST = 4
"""Words of a pool's question at least, and at most `checks.LONGEST`: others cannot be answered without more."""

NOT = "!"
"""Prefix of a word that a persona must not have."""


def start(build: Build, language: str | None = None, test: str | None = None) -> tuple[list[Path], list[Path]]:
    """Write the missing files of a build: (files written, files already there). A new build to which a team brought
    persona/ writes no other personas. Raises OptionError for an invalid option, DataError for a broken build.toml.

    Args:
        language: of a new set; None for English.
        test: share of its users for testing; None for all.
    """
    root, path = build.root, build.root / settings.FILE
    earlier = build.settings if path.exists() else None
    chosen = Settings.of_options(earlier, language=language, test=test)
    if earlier is None and any((root / "persona").glob("*.json")):
        chosen = replace(chosen, personas=0)
    contents: dict[Path, Content] = {path: chosen.as_toml()}
    for folder, place in ((prompts.FOLDER, root / prompts.FOLDER), (prompts.GIVEN, root)):
        contents |= {place / name: text for name, text in prompts.bundled(folder, chosen.language).items()}
    present = [path for path in contents if path.exists()]
    missing = {path: content for path, content in contents.items() if path not in present}
    write_all(missing)
    return list(missing), present


def given(root: Path, name: str, expected: str) -> Path:
    """The path of a file from the team. Raises DataError if it is missing, naming the `expected` content."""
    path = root / name
    if not path.is_file():
        raise DataError(
            f"{path}: there is no such file, expected {expected}. Write it, or start with: {INIT.command(root)}"
        )
    return path


def seeds(root: Path) -> list[dict[str, Any]]:
    """The seed profiles of a build. Raises DataError if there are none, or one is no object with a value."""
    path = given(root, SEEDS, "one JSON object per line, each a short profile of a user")
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
    """(different questions of the pool, number of those too short or too long). Raises DataError without any."""
    path = given(root, POOL, 'one {"question": "..."} per line, for general questions (or general = 0 in build.toml)')
    texts = [" ".join(row.question.split()) for _, row in table(path, _Asked)]
    fitting = [text for text in texts if SHORTEST <= words(text) <= LONGEST]
    if not fitting:
        raise DataError(f"{path}: found no question of {SHORTEST} to {LONGEST} words, expected some. Add them.")
    return list(dict.fromkeys(fitting)), len(texts) - len(fitting)


class _Example(msgspec.Struct):
    """A line of examples.jsonl."""

    scenario: NonEmpty
    question: NonEmpty
    features: tuple[str, ...] = ()


def question_examples(root: Path) -> list[str]:
    """The examples of a build, formatted for a prompt. Raises DataError if there are none, or one has no question."""
    path = given(root, EXAMPLES, 'one {"features": ["..."], "scenario": "...", "question": "..."} per line')
    found = []
    for _, example in table(path, _Example):
        user = f"<user>\n{prompts.bulleted(example.features)}\n</user>\n" if example.features else ""
        found.append(f"{user}<situation>{example.scenario}</situation>\n<question>{example.question}</question>")
    return found


# --- tables ---

Share = Annotated[float, msgspec.Meta(gt=0, lt=1e9)]
"""How often a line of a table is drawn, relative to the others."""


class Listed(tuple[str, ...]):
    """Texts in a cell of a table, with | between them."""


def listed(_: type, cell: str) -> Listed:
    """Read such a cell."""
    return Listed(filter(None, map(str.strip, cell.split("|"))))


class Country(msgspec.Struct, frozen=True):
    """A country, and common names there, as a line of names.csv has them."""

    country: NonEmpty
    share: Share
    female: Listed
    male: Listed
    family: Listed

    def __post_init__(self) -> None:
        for name in ("female", "male", "family"):
            if not getattr(self, name):
                raise ValueError(f"nothing under {name}, expected names with | between them")


def countries(root: Path) -> list[Country]:
    """The countries of a build; empty without names.csv. Raises DataError for a broken line."""
    path = root / NAMES
    return [country for _, country in table(path, Country, lax=listed)] if path.is_file() else []


class Scenario(msgspec.Struct, frozen=True):
    """A situation for questions, as a line of scenarios.csv has it; by default those of the paper's Table 5."""

    category: NonEmpty
    scenario: NonEmpty
    share: Share
    description: str = ""
    fits: Listed = Listed()  # words; the persona must have one of them, if any, and none of those with NOT

    @property
    def text(self) -> str:
        """The situation in a prompt."""
        return f"{self.scenario}: {self.description}" if self.description else self.scenario

    def is_for(self, persona: Persona) -> bool:
        """Whether the persona's texts have the words."""
        has = {word: _has(persona.values, word.removeprefix(NOT)) for word in self.fits}
        wanted = [word for word in has if not word.startswith(NOT)]
        return (not wanted or any(has[word] for word in wanted)) and not any(has[word] for word in has.keys() - wanted)


def _has(text: str, word: str) -> bool:
    if IDEOGRAPH.search(word):  # Chinese has no spaces between words
        return word in text
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def scenarios(root: Path) -> list[Scenario]:
    """The scenarios of a build. Raises DataError if there are none, or a line is broken or repeated."""
    path = given(root, SCENARIOS, f"a table with the columns {', '.join(columns(Scenario))}")
    found: dict[str, Scenario] = {}
    for where, line in table(path, Scenario, lax=listed):
        if line.scenario in found:
            raise DataError(f"{where}: found the scenario {line.scenario!r} again, expected each once. Fix it.")
        found[line.scenario] = line
    if not found:
        raise DataError(f"{path}: found no scenario, expected some. Add them, or restore the file with `build init`.")
    return list(found.values())
