"""`personafeedback` commands: in this process, in several at once, and where files or disks are in the way."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
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


AWAY = tempfile.gettempdir()
"""Where processes start: in the checkout they would import it, and not what is installed."""

_COMMAND = """\
import sys
from personafeedback_tasks.cli.main import main
if sys.argv[1] == "card":
    from personafeedback_tasks.analysis import report
    from personafeedback_tasks.reports import card
print(flush=True)
sys.stdin.readline()
main(prog_name="personafeedback")
"""


def at_once(*commands: Sequence[object], **environment: str) -> list[subprocess.CompletedProcess[str]]:
    """Run `personafeedback` commands in processes of their own, which begin when the last one has imported all it needs."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _COMMAND, *map(str, command)], cwd=AWAY, env={**os.environ, **environment},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for command in commands
    ]  # fmt: skip
    for process in started:
        assert process.stdout.readline() == "\n", process.communicate()[1]
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    return [subprocess.CompletedProcess(process.args, process.wait(), *process.communicate()) for process in started]


_LOCK = """\
import sys
from pathlib import Path
from personafeedback_tasks.common import files
with files.locked(Path(sys.argv[1])):
    print(flush=True)
    sys.stdin.read()
"""


@contextmanager
def keep_locked(path: Path) -> Iterator[None]:
    """Have another process keep a file or folder locked."""
    other = subprocess.Popen(
        [sys.executable, "-c", _LOCK, path], cwd=AWAY, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout.readline() == b"\n"
    try:
        yield
    finally:
        other.communicate()


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
