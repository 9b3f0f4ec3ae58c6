"""Lines of a page or of a card, run as they are printed, in this process."""

from __future__ import annotations

import glob
import shlex
from collections.abc import Iterable

import pytest

from support.commands import personafeedback


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
