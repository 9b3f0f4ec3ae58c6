"""`personafeedback` commands: in this process, and where files or disks are in the way."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from click.testing import CliRunner, Result

from personafeedback_tasks.cli.main import main


def personafeedback(*arguments: object, **environment: str) -> Result:
    """Run a command in this process; only what it printed and its exit status count."""
    done = CliRunner().invoke(main, list(map(str, arguments)), env={"COLUMNS": "200", **environment})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def ran(*arguments: object, **environment: str) -> Result:
    """The result of a command that must end well."""
    done = personafeedback(*arguments, **environment)
    assert done.exit_code == 0, done.output
    return done


def build_step(name: str, root: object, *arguments: object) -> Result:
    """Run a step of a build by its name, or `status`."""
    if name in ("personas", "questions", "answers"):
        return personafeedback("build", "texts", root, name, *arguments)
    calls = {"packs": ("annotate", "pack"), "votes": ("annotate", "votes")}
    return personafeedback(*calls.get(name, ("build", name)), root, *arguments)


AWAY = tempfile.gettempdir()
"""Where processes start: in the checkout they would import it, and not what is installed."""


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file of this process can grow beyond so many bytes, as on a full disk."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with patch.object(sys, "dont_write_bytecode", True):  # half of a module's would be left
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


def tree(folder: Path) -> dict[str, object]:
    """Everything below a folder: content and mode, or where a link points."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
    }
