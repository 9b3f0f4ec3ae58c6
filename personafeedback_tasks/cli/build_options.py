"""What the commands of a build share: its folder, and arguments of models."""

from __future__ import annotations

from pathlib import Path

import click

from ..building.folder import Folder
from ..building.models import Batch

_DIR = click.Path(file_okay=False, path_type=Path)

folder_argument = click.argument("folder", metavar="DIR", type=_DIR)

build_argument = click.argument("folder", metavar="DIR", type=_DIR, callback=lambda _, __, path: Folder.of_build(path))
"""As `folder_argument`, of a build that was started."""

model_arguments_option = click.option(
    "-M", "given", multiple=True, metavar="[MODEL:]KEY=VALUE",
    help="Argument of all models, as in Inspect, or of one: -M base_url=URL, -M openai/gpt-4o:base_url=URL. Repeatable.",
)  # fmt: skip

batch_option = click.option(
    "--batch", is_flag=False, flag_value="true", metavar="[SIZE]", callback=lambda _, __, text: _batch(text),
    help="Ask by the provider's batch interface, as Inspect does. Most providers answer within a day, at half the price.",
)  # fmt: skip


def _batch(text: str | None) -> Batch:
    """`--batch` alone, or with a number of requests."""
    if text is None or text == "true":
        return text is not None
    if text.isdecimal() and int(text):
        return int(text)
    raise click.BadParameter(f"expected nothing, or a number of requests, got {text!r}.")
