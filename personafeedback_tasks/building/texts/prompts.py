"""The prompts of a build: files that a team edits, read strictly.

A file is all that a model is told. `{{name}}` stands for a text that the step puts in; all else is sent as it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ...common.errors import DataError
from ...common.records import read
from ..steps import command

FOLDER = "prompts"

PLACEHOLDERS: Mapping[str, tuple[str, ...]] = {
    "persona": ("seed", "structure"),
    "memory": ("persona", "texts", "count"),
    "specific": ("persona", "memory", "scenario"),
    "natural": ("persona", "question", "leaks"),
    "open": ("questions",),
    "features": ("memory",),
    "from_memory": ("features", "scenario"),
    "general": ("persona", "questions", "count"),
    "fits": ("persona", "question"),
    "answer": ("persona", "question", "words"),
    "question": ("question", "words"),
    "improve": ("persona", "question", "answer", "words"),
    "less_personal": ("question", "answer", "words"),
    "less_helpful": ("question", "answer", "words"),
}
"""Name of a prompt -> the placeholders that its file must have."""

OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "persona": ("traits", "others"),
    "specific": ("example",),
    "from_memory": ("memory", "example"),
}
"""Name of a prompt -> the placeholders that its file may leave out."""

ANYWHERE = "language"
"""A placeholder that every prompt may have: the name of the build's language."""

LANGUAGES = ("en", "zh")
"""Of the prompts that this package brings. For other languages a build starts from the English ones, which name the language."""

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True)
class Prompt:
    """One prompt.

    Attributes:
        text: of the file.
        version: what provenance says: the name and SHA-256 (12 hex digits) of the file.
        language: name of the build's language.
    """

    text: str
    version: str
    language: str = ""

    def filled(self, **texts: str) -> str:
        """The prompt with its texts; what the texts themselves say is not filled again."""
        known = {ANYWHERE: self.language, **texts}
        return _PLACEHOLDER.sub(lambda placeholder: known[placeholder[1]], self.text)


def load(root: Path, name: str, language: str = "") -> Prompt:
    """A prompt of a build.

    Args:
        root: the build's folder.
        name: a key of PLACEHOLDERS.
        language: its name.

    Raises:
        DataError: the file is missing or empty, lacks a placeholder, or has one that nobody fills.
    """
    path = root / FOLDER / f"{name}.md"
    if not path.is_file():
        raise DataError(f"{path}: there is no such file, expected a prompt. Restore it: {command('init', root)}")
    raw = read(path)
    try:
        text = raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: found bytes that are no UTF-8, expected a text in UTF-8. Save it again.") from error
    present, needed = set(_PLACEHOLDER.findall(text)), PLACEHOLDERS[name]
    for placeholder in needed:
        if placeholder not in present:
            raise DataError(
                f"{path}: found no {{{{{placeholder}}}}}, expected {_listed(needed)}. Put it where the model is to read that text."
            )
    known = (*needed, *OPTIONAL.get(name, ()), ANYWHERE)
    for placeholder in sorted(present - set(known)):
        raise DataError(
            f"{path}: found {{{{{placeholder}}}}}, which nothing fills, expected only {_listed(known)}. Remove it."
        )
    return Prompt(text, f"{name}.md {hashlib.sha256(raw).hexdigest()[:12]}", language)


def bundled(language: str) -> dict[str, str]:
    """Name of a prompt -> its text as this package brings it for a language."""
    folder = files(__package__).joinpath(FOLDER).joinpath(language if language in LANGUAGES else LANGUAGES[0])
    return {name: folder.joinpath(f"{name}.md").read_text(encoding="utf-8") for name in PLACEHOLDERS}


def tagged(reply: str, name: str) -> str | None:
    """What a reply has between <name> and </name>, the last time; None if it has no such tags."""
    found = re.findall(rf"<{name}>(.*?)</{name}>", reply, re.DOTALL | re.IGNORECASE)
    return found[-1].strip() if found else None


def says_yes(reply: str, name: str) -> bool | None:
    """Whether a reply has yes between such tags; None if it has neither yes nor no."""
    return {"yes": True, "true": True, "是": True, "no": False, "false": False, "否": False}.get(
        (tagged(reply, name) or "").strip(" .。").lower()
    )


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"{{{{{name}}}}}" for name in names)
