"""What the commands of a build share: its folder, and arguments of models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from ..common.errors import OptionError
from ..common.strict_yaml import argument

folder_argument = click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))


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
