"""What README, CONTRIBUTING and the pages in docs/ show, and their lines run as they are printed, in this process."""

from __future__ import annotations

import glob
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

import pytest

from support.commands import personafeedback
from support.environments import CHECKOUT

README, CONTRIBUTING, CARD = (
    CHECKOUT / "README.md",
    CHECKOUT / "CONTRIBUTING.md",
    CHECKOUT / "benchmarks/longest/CARD.md",
)
DOCS = CHECKOUT / "docs"


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def block(path: Path, marker: str) -> str:
    """The fenced block after a marker."""
    return re.search(r"```\w*\n(.*?)```", text(path).partition(f"<!-- {marker} -->")[2], re.S)[1]


def table(path: Path, header: str) -> list[list[str]]:
    """The cells of each row below a header."""
    return tables(path, header)[0]


def tables(path: Path, header: str) -> list[list[list[str]]]:
    """The same of every table with that header."""
    found = [part.partition("\n\n")[0].splitlines()[2:] for part in text(path).split(f"\n{header}")[1:]]
    assert found, header
    assert all(found), header
    return [[[cell.strip() for cell in row.strip("|").split("|")] for row in rows] for rows in found]


def section(path: Path, heading: str) -> str:
    """What stands below a heading of the second level."""
    return text(path).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def run_as_printed(lines: Iterable[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Run commands in this process; what the last one prints."""
    printed = ""
    for words in filter(None, map(_words, lines)):
        printed = _printed(words, monkeypatch)
    return printed


def _words(line: str) -> list[str]:
    """As a shell reads a line: without comments, with the names of files that match, and what a command in it prints."""
    words = []
    for word in shlex.split(line, comments=True):
        if word.startswith("$(personafeedback "):
            words.append(personafeedback(*shlex.split(word[2:-1])[1:]).stdout.rstrip("\n"))
        else:
            words += sorted(glob.glob(word)) if "*" in word else [word]
    return words


def _printed(words: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    program, *arguments = words
    if program == "export":
        for argument in arguments:
            monkeypatch.setenv(*argument.split("="))
        return ""
    if program == "personafeedback":
        result = personafeedback(*arguments)
        assert result.exit_code == 0, result.output
        return result.stdout
    if program == "inspect":
        from support.inspect_runs import command
    else:
        assert program == "lm_eval"
        from support.lm_eval_runs import command
    done = command(*arguments[1:])
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
