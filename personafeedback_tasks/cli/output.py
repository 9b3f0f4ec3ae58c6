"""What commands print: tables, or JSON to a file or to stdout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ..common.errors import require
from ..common.files import write
from ..common.strict_json import json_text

json_option = click.option(
    "--json",
    "json_file",
    metavar="FILE",
    help="Write everything to FILE as JSON; - writes JSON to stdout and no tables.",
)


def needs_tables(json_file: str | None) -> None:
    """Name a missing extra before the work starts; JSON on stdout needs none."""
    if json_file != "-":
        require("rich", extra="report")


def write_json(path: str | None, document: dict[str, Any]) -> bool:
    """Write the document if a file is given. True if stdout is still free for tables."""
    if path is None:
        return True
    if path != "-":
        write(Path(path), json_text(document))
        return True
    click.echo(json_text(document).encode("utf-8"), nl=False)  # bytes: UTF-8 whatever the terminal has
    return False


def show_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print one table; nothing for no rows."""
    from ..reports.terminal import line, show, table

    if rows:
        show([line(title, style="bold"), table(header, rows)])
