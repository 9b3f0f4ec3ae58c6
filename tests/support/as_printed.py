"""Lines of a page, run as they are printed, in this process."""

from __future__ import annotations

import glob
import shlex

from support.commands import personafeedback
from support.inspect_runs import command as inspect


def run_as_printed(lines, monkeypatch) -> str:
    """Run commands in this process; what the last one prints."""
    printed = ""
    for line in lines:
        words = [name for word in shlex.split(line) for name in (sorted(glob.glob(word)) if "*" in word else [word])]
        if words[0] == "export":
            monkeypatch.setenv(*words[1].split("="))
        elif words[0] == "inspect":
            done = inspect(*words[2:])
            assert done.returncode == 0, done.stdout
            printed = done.stdout
        else:
            done = personafeedback(*words[1:])
            assert done.exit_code == 0, done.output
            printed = done.stdout
    return printed
