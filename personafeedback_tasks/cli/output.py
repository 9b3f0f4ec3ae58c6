"""Output of commands: tables, or JSON to a file or to stdout; in any encoding."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from ..common import foreign
from ..common.errors import OptionError
from ..common.files import Content, write_all
from ..common.outputs import Output, json_text

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


def publish(
    document: Output,
    blocks: Callable[[], Iterable[Block]],
    json_file: Path | None,
    *,
    csv_file: Path | None = None,
    csv: str = "",
    out: Path | None = None,
    files: Mapping[str, Content] = MappingProxyType({}),
) -> None:
    """Write a document and the files of --out as options say, and print its blocks unless stdout is taken.

    All files are written first: a pipe that closes, such as `| head`, ends the command.
    """
    made = {} if out is None else {out / name: content for name, content in files.items()}
    texts = {} if json_file is None else {json_file: json_text(document)}
    texts |= {} if csv_file is None else {csv_file: csv}
    to_stdout = texts.pop(STDOUT, None)
    _refuse_inputs(texts)
    write_all({**made, **texts})
    if to_stdout is None:
        from ..reports.blocks import terminal
        from ..reports.terminal import show

        show(terminal(blocks()))
    else:
        click.echo(to_stdout.encode("utf-8"), nl=False)  # bytes: UTF-8 whatever the terminal has
    for path in made:
        say(f"wrote {path}", err=to_stdout is not None)


def _refuse_inputs(named: Collection[Path]) -> None:
    for name, value in click.get_current_context().params.items():
        for given in value if isinstance(value, tuple) else (value,):
            for path in named if isinstance(given, Path) and name not in OUTPUTS and given.exists() else ():
                if path.exists() and path.samefile(given):
                    raise OptionError(
                        f"{path}: found a file that this command reads, expected another one to write to."
                    )
    for path in named:  # also one of a folder that the command reads
        if path.is_file() and _is_log(path):
            raise OptionError(f"{path}: found a log, expected another file to write to.")


def _is_log(path: Path) -> bool:
    from ..logs.errors import RunError
    from ..logs.log import reader_of

    try:
        return reader_of(path) is not None
    except RunError:  # empty, or converted
        return path.stat().st_size > 0
