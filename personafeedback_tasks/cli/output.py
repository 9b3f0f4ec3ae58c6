"""What commands print: tables, or JSON to a file or to stdout; in any encoding."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ..common import foreign
from ..common.errors import require
from ..common.files import write
from ..common.strict_json import json_text

json_option = click.option(
    "--json",
    "json_file",
    metavar="FILE",
    help="Write everything to FILE as JSON; - writes JSON to stdout and no tables.",
)


def show_in_any_encoding() -> None:
    """Let nothing that is printed from now on fail because the terminal, pipe or file behind it cannot show a character: it gets a `?`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str = "", err: bool = False) -> None:
    """Print one line, which may quote anybody's names."""
    click.echo(foreign.terminal(text), err=err)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A function that shows what takes long, in one line that goes away. On a terminal only."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status("") as status:
        yield lambda text: status.update(Text(foreign.terminal(text)))


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
    """Print one table, in parts if it is wide; nothing for no rows."""
    from ..reports.terminal import line, show, tables

    if rows:
        show([line(title, style="bold"), *tables(header, rows)])
