"""`build init`: the files that a team begins with. What is already there stays as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..common.files import Content, write_all
from .imported.users import OwnUsers
from .settings import FILE, Settings
from .texts import prompts, seeds


def start(
    root: Path, language: str | None = None, name: str | None = None, users: OwnUsers | None = None
) -> tuple[list[Path], list[Path]]:
    """Write the files that are missing.

    Args:
        root: of the build.
        language: of the set; that of an existing build.yaml if None, else English.
        name: of the set.
        users: a team's own; a new build then writes no others.

    Returns:
        The files that were written, and those that were there.

    Raises:
        OptionError: the language is no code, or the name cannot be that of a set.
        DataError: an existing build.yaml is broken.
        FileError: they cannot be written.
    """
    path, settings = root / FILE, Settings.of_options(language=language, name=name)
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
