"""`build init`: the files that a team begins with. What is already there stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

from ..common.files import Content, write_all
from . import settings
from .settings import Settings
from .texts import prompts
from .texts.seeds import EXAMPLES, FILE

COMMENTS = {
    "name": "of the set, as every table and card shows it",
    "licence": "of the texts: an SPDX id such as CC-BY-4.0",
    "language": "of every text: a code of two or three letters, such as zh or de",
    "seed": "of every random choice",
    "personas": "how many personas to write from seeds.jsonl; your own come on top",
    "specific": "questions to write for each person, from the scenarios of the paper's Table 5",
    "general": "questions to choose for each person from your pool.jsonl",
    "test": "share of the persons whose pairs people vote on; the others are for training",
    "masked": "share of a persona's fields that the masked strategy hides",
    "annotators": "votes to each pair",
    "medium": "least share of agreeing votes of the tier medium",
    "hard": "least share of agreeing votes of the tier hard; a pair below it is left out",
}
"""Setting -> what it decides, in one line."""


def start(root: Path, language: str | None = None, name: str | None = None) -> tuple[list[Path], list[Path]]:
    """Write the files that are missing.

    Args:
        root: of the build.
        language: of the set; that of an existing build.yaml if None, else English.
        name: of the set.

    Returns:
        The files that were written, and those that were there.

    Raises:
        OptionError: the language is no code, or the name cannot be that of a set.
        DataError: an existing build.yaml is broken.
        FileError: they cannot be written.
    """
    settings.check_language(language)
    settings.check_lines(name)
    path = root / settings.FILE
    told = Settings.load(path) if path.exists() else Settings(language=language or "en", name=name or Settings.name)
    contents: dict[Path, Content] = {path: as_yaml(told)}
    for prompt, text in prompts.bundled(told.language).items():
        contents[root / prompts.FOLDER / f"{prompt}.md"] = text
    examples = EXAMPLES.get(told.language, EXAMPLES["en"])
    contents[root / FILE] = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in examples)
    present = [one for one in contents if one.exists()]
    missing = {one: content for one, content in contents.items() if one not in present}
    write_all(missing)
    return list(missing), present


def as_yaml(told: Settings) -> str:
    """Settings as build.yaml has them: every one, with its comment."""
    lines = [f"{name}: {_value(getattr(told, name))}  # {comment}" for name, comment in COMMENTS.items()]
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
