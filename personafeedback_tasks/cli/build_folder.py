"""What the commands of a build share: its folder, arguments of models, and the next command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from ..building import settings
from ..building.folder import Folder, command
from ..common.errors import OptionError
from ..common.strict_yaml import argument
from .output import say

folder_argument = click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))


def opened(root: Path) -> Folder:
    """The build in a folder.

    Raises:
        OptionError: there is none.
        DataError: its settings are broken.
    """
    if not (root / settings.FILE).is_file():
        raise OptionError(
            f"{root}: found no {settings.FILE}, expected the folder of a build. Start one: {command('init', root)}"
        )
    build = Folder(root)
    _ = build.settings
    return build


def then(step: str, build: Folder, rest: str = "") -> None:
    """Print the command to go on with."""
    say(f"Next: {command(step, build.root)} {rest}".rstrip())


def model_arguments(pairs: Iterable[str]) -> dict[str, Any]:
    """Those of a model, each `KEY=VALUE`, as Inspect reads them: numbers, true, lists."""
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise OptionError(f"-M must be KEY=VALUE, got {pair!r}.")
        try:
            found[key] = argument(value) if value else value
        except ValueError:
            found[key] = value
    return found
