"""The prompts of a build: files that a team edits, read strictly; and readers of tags and numbers in replies.

A file is the whole prompt. `{{name}}` is filled by the step; everything else is sent unchanged.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from ...common.errors import DataError
from ...common.records import read
from ..steps import INIT

FOLDER, GIVEN = "prompts", "given"
"""Folders of this package's files: the prompts, and what else a build starts with. The first is also a build's."""

OPTIONAL: Mapping[str, set[str]] = {
    "persona": {"traits"},
    "specific": {"example"},
    "from_memory": {"memory", "example"},
}
"""Name of a prompt -> the placeholders of this package's prompt that a team's may leave out; and ANYWHERE."""

ANYWHERE = "language"
"""A placeholder that every prompt may have: the name of the build's language."""

LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "中文"}
"""Code -> name of the languages of this package's prompts. Others start from the English ones, which name theirs."""

NO_NUMBERS = "no numbers"
"""Reason to refuse a choice: it names nothing that was shown."""

_PLACED = re.compile(r"\W*([0-9]{1,6})[.):、．]\W*([0-9]{1,6})(?=\W*\Z|[\s*_]*[-–—.):、．]\s*[^\W\d])")
_COPIED = re.compile(r"\W*([0-9]{1,6})[.):、．].*[^\W\d_]")
"""Lines of a reply: the place of a choice and its number; the number of a choice and its text."""

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")


C = TypeVar("C")


@dataclass(frozen=True)
class Prompt:
    """A prompt."""

    text: str
    version: str  # name and SHA-256 (12 hex digits) of its file, for provenance
    language: str  # name of the build's language

    def filled(self, **texts: str) -> str:
        """The prompt with its texts filled in; placeholders inside these texts are left alone."""
        known = {ANYWHERE: self.language, **texts}
        return _PLACEHOLDER.sub(lambda placeholder: known[placeholder[1]], self.text)


def load(root: Path, name: str, language: str) -> Prompt:
    """A prompt of a build, whose language has this code. Raises DataError if the file is missing or empty, lacks a
    placeholder of this package's prompt, or has an unknown one."""
    path = root / FOLDER / f"{name}.md"
    if not path.is_file():
        raise DataError(f"{path}: there is no such file, expected a prompt. Restore it: {INIT.command(root)}")
    raw = read(path)
    try:
        text = raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: found bytes that are no UTF-8, expected a text in UTF-8. Save it again.") from error
    ours = bundled(FOLDER, language)[path.name]
    present, known = set(_PLACEHOLDER.findall(text)), {*_PLACEHOLDER.findall(ours), ANYWHERE}
    needed = known - {ANYWHERE} - OPTIONAL.get(name, set())
    for placeholder in sorted(needed - present):
        raise DataError(
            f"{path}: found no {{{{{placeholder}}}}}, expected {_placeholders(needed)}. Put it where the model is to "
            "read that text."
        )
    for placeholder in sorted(present - known):
        raise DataError(
            f"{path}: found {{{{{placeholder}}}}}, which nothing fills, expected only {_placeholders(known)}. Remove "
            "it."
        )
    called = LANGUAGES.get(language, f"the language with the code {language}")
    return Prompt(text, f"{name}.md {hashlib.sha256(raw).hexdigest()[:12]}", called)


@cache
def bundled(folder: str, language: str) -> dict[str, str]:
    """Name of a file -> its text, of this package's FOLDER or GIVEN for a language; in English where it has none."""
    inside = files(__package__).joinpath(folder).joinpath(language if language in LANGUAGES else "en")
    paths = sorted(inside.iterdir(), key=lambda path: path.name)
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def tagged(reply: str, name: str) -> str | None:
    """Text between <name> and </name>, the last time; None without such tags."""
    found = re.findall(rf"<{name}>(.*?)</{name}>", reply, re.DOTALL | re.IGNORECASE)
    return found[-1].strip() if found else None


def says_yes(reply: str, name: str) -> bool | None:
    """Whether a reply has yes between such tags; None if it has neither yes nor no."""
    return {"yes": True, "true": True, "是": True, "no": False, "false": False, "否": False}.get(
        (tagged(reply, name) or "").strip(" .。").lower()
    )


def bulleted(texts: Iterable[str]) -> str:
    """A list for a prompt."""
    return "\n".join(f"- {text}" for text in texts)


def listed(texts: Iterable[str]) -> str:
    """A numbered list for a prompt."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def chosen(shown: Sequence[C], reply: str) -> list[C]:
    """The items that a reply chooses by their numbers, in its order; invalid numbers are left out."""
    lines = [line for line in reply.splitlines() if line.strip()]
    placed = [choice for line in lines if (choice := _PLACED.match(line))]
    if len(placed) == len(lines) and [int(choice[1]) for choice in placed] == list(range(1, len(lines) + 1)):
        found = [choice[2] for choice in placed]
    else:
        found = []
        for line in lines:
            copied = _COPIED.match(line)
            found += [copied[1]] if copied else re.findall(r"[0-9]{1,6}", line)
    numbers = dict.fromkeys(map(int, found))
    return [shown[number - 1] for number in numbers if 1 <= number <= len(shown)]


def _placeholders(names: set[str]) -> str:
    return ", ".join(f"{{{{{name}}}}}" for name in sorted(names))
