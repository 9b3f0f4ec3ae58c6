"""What the commands of a build share: its folder, and arguments of models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from ..building.folder import Folder
from ..common.errors import OptionError
from ..common.strict_yaml import argument

_DIR = click.Path(file_okay=False, path_type=Path)

folder_argument = click.argument("folder", metavar="DIR", type=_DIR)

build_argument = click.argument("folder", metavar="DIR", type=_DIR, callback=lambda _, __, path: Folder.of_build(path))
"""As `folder_argument`, of a build that was started."""

model_arguments_option = click.option(
    "-M", "arguments", multiple=True, metavar="KEY=VALUE", help="Argument of the model, as in Inspect: -M base_url=URL."
)

redact_option = click.option(
    "--redact", is_flag=True, help="Put placeholders for e-mail addresses, phone numbers and handles."
)


def model_arguments(pairs: Iterable[str]) -> dict[str, Any]:
    """Those of a model, each `KEY=VALUE`, as Inspect reads them: numbers, true, lists."""
    arguments: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise OptionError(f"-M must be KEY=VALUE, got {pair!r}.")
        try:
            arguments[key] = argument(value) if value else value
        except ValueError:
            arguments[key] = value
    return arguments
