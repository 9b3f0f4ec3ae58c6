"""Output of commands: tables, or JSON to a file or to stdout; in any encoding."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..common import foreign
from ..common.errors import OptionError, require
from ..common.files import Content, write, write_all
from ..common.outputs import Output, output_text

if TYPE_CHECKING:
    from ..reports.blocks import Block

STDOUT = Path("-")

OUTPUTS = ("json_file", "csv_file", "out")
"""Parameters of commands that name what they write."""

MINUTE = 60
"""Seconds between lines of `progress` where nobody sits at a terminal."""


def show_in_any_encoding() -> None:
    """Print `?` for characters that the terminal, pipe or file cannot show, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str = "", err: bool = False) -> None:
    """Print one line, which may quote anybody's names."""
    click.echo(foreign.terminal(text), err=err)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A function that shows progress: on a terminal in one line that goes away, else on stderr, a line a minute."""
    if not sys.stderr.isatty() or find_spec("rich") is None:
        last = time.monotonic()

        def once_a_minute(text: str) -> None:
            nonlocal last
            if time.monotonic() - last >= MINUTE:
                last = time.monotonic()
                say(text, err=True)

        yield once_a_minute
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    spinner, piped, console = Spinner("dots"), not sys.stdout.isatty(), Console(stderr=True)

    def update(text: str) -> None:
        line = Text(foreign.terminal(text))
        line.truncate(console.width - 2, overflow="ellipsis")
        spinner.update(text=line)

    with Live(spinner, console=console, transient=True, redirect_stdout=not piped):  # what is piped stays whole
        yield update


def needs_tables(json_file: Path | None) -> None:
    """Name a missing extra before the work starts; JSON on stdout needs none."""
    if json_file != STDOUT:
        require("rich", extra="report")


def write_json(path: Path | None, document: Output) -> bool:
    """Write the document if a file is given. True if stdout is still free for tables."""
    return path is None or write_text(path, output_text(document))


def write_text(path: Path, text: str) -> bool:
    """Write what programs read to a file, or to stdout. True if stdout is still free for tables."""
    if path != STDOUT:
        refuse_input(path)
        write(path, text)
        return True
    click.echo(text.encode("utf-8"), nl=False)  # bytes: UTF-8 whatever the terminal has
    return False


def refuse_input(path: Path) -> None:
    """Raise OptionError if the command was given this file to read."""
    for name, value in click.get_current_context().params.items():
        for given in value if isinstance(value, tuple) else (value,):
            if (
                isinstance(given, Path)
                and name not in OUTPUTS
                and path.exists()
                and given.exists()
                and path.samefile(given)
            ):
                raise OptionError(f"{path}: found a file that this command reads, expected another one to write to.")


@contextmanager
def files_written(contents: Mapping[str, Content], out: Path | None, err: bool = False) -> Iterator[None]:
    """Write files into a folder, if one is given, on entry, and name them on exit.

    A pipe that closes, such as `| head`, ends the command in between.
    """
    made = {} if out is None else {out / name: content for name, content in contents.items()}
    write_all(made)
    yield
    for path in made:
        say(f"wrote {path}", err=err)


def show(blocks: Iterable[Block]) -> None:
    """Print the lines and tables of an output."""
    from ..reports.blocks import terminal
    from ..reports.terminal import show

    show(terminal(blocks))
