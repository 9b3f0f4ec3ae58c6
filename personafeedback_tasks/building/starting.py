"""`build init`: a team's first files. Existing files are left unchanged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..common.files import Content, write_all
from .settings import FILE, Settings
from .texts import prompts, seeds
from .users import OwnUsers


def start(root: Path, language: str | None = None, users: OwnUsers | None = None) -> tuple[list[Path], list[Path]]:
    """Write the missing files.

    Args:
        language: of the set; if None that of an existing build.yaml, else English.
        users: a team's own; a new build then writes no other personas.

    Returns:
        (files written, files already there).

    Raises:
        OptionError: the language is invalid.
        DataError: an existing build.yaml is broken.
    """
    path, settings = root / FILE, Settings.of_options(language=language)
    if path.exists():
        settings = Settings.load(path)
    elif users:
        settings = replace(settings, personas=0)
    contents: dict[Path, Content] = {path: settings.as_yaml()}
    for prompt, text in prompts.bundled(settings.language).items():
        contents[root / prompts.FOLDER / f"{prompt}.md"] = text
    contents |= {root / example: text for example, text in seeds.examples(settings.language).items()}
    contents |= {root / file: text for file, text in (users.files if users else {}).items()}
    present = [path for path in contents if path.exists()]
    missing = {path: content for path, content in contents.items() if path not in present}
    write_all(missing)
    return list(missing), present
