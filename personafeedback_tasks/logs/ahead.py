"""Of several large logs, every second one is read in a process of its own, while this one reads the others."""

# A new interpreter, not multiprocessing: that would fork a process with threads, or run the user's script again. What
# the other process cannot read, for whatever reason, is read here, so that errors and numbers are those of one process.

from __future__ import annotations

import gc
import os
import pickle
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

from ..common.errors import PersonaFeedbackError
from ..common.records import cut
from ..core.benchmark import any_registered
from . import prompts
from .compare import runs_of
from .errors import UNREADABLE, RunError
from .log import open_logs
from .run import Run

File = tuple[Path, Sequence[Path]]
"""A log, and of a results file of lm-eval the samples files to read; empty for all."""

LARGE = 20_000_000
"""Bytes of a log that takes longer to read than an interpreter to start."""


def read(path: Path, only: Collection[Path] = ()) -> list[Run]:
    """The runs of a log. Raises RunError if it cannot be read."""
    try:
        return [run for log in open_logs(path, only=only) for run in runs_of(log)]
    except UNREADABLE as error:
        if isinstance(error, PersonaFeedbackError):
            raise
        why = f"{type(error).__name__}: {cut(' '.join(str(error).split()), 200)}"
        raise RunError(
            f"{path}: found a log that cannot be read ({why}), expected one of Inspect or lm-eval 0.4 as the harness "
            "wrote it. If a newer version wrote this log, upgrade personafeedback-tasks."
        ) from error


@contextmanager
def reader(files: Sequence[File]) -> Iterator[Callable[[Path, Sequence[Path]], list[Run]]]:
    """`read`, for logs that are asked for in this order."""
    alone = (os.cpu_count() or 1) < 2 or any_registered()  # a benchmark of this process is not that of another one
    theirs = [] if alone else [file for file in files if _size(*file) > LARGE][1::2]
    other = _started() if theirs else None
    if other is None:
        yield read
        return
    with other:
        assert other.stdin, "a pipe"
        with suppress(OSError), other.stdin:  # where it has ended
            pickle.dump(theirs, other.stdin)

        def found(path: Path, only: Sequence[Path]) -> list[Run]:
            runs = _received(other, (path, only)) if (path, only) in theirs else None
            return read(path, only) if runs is None else runs

        try:
            yield found
        finally:
            other.kill()


def _started() -> Popen[bytes] | None:
    # the path of this process, and no other (-P): both import the same package, of which several may be installed
    path = os.pathsep.join(map(os.path.abspath, sys.path))
    command, env = [sys.executable, "-P", "-m", __name__], {**os.environ, "PYTHONPATH": path}
    try:
        return Popen(command, env=env, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    except OSError:  # no room for another process, or no interpreter of its own
        return None


def _size(path: Path, only: Sequence[Path]) -> int:
    stamp = path.stem.rpartition("_")[2]
    beside = only or (path.parent.glob(f"samples_*_{stamp}.jsonl") if path.suffix == ".json" else ())
    return sum(file.stat().st_size for file in (path, *beside) if file.is_file())


def _received(other: Popen[bytes], file: File) -> list[Run] | None:
    # None where the other process could not read the log, or ended
    assert other.stdout, "a pipe"
    with suppress(Exception):
        sent, runs = None, None
        while sent != file:
            sent, runs = pickle.load(other.stdout)
        return runs
    return None


def main() -> None:
    """Read the logs that standard input lists; write each with its runs, or None, to standard output."""
    gc.disable()
    prompts.shortened = prompts.digest
    output, sys.stdout = sys.stdout.buffer, sys.stderr
    for file in pickle.load(sys.stdin.buffer):
        try:
            runs = read(*file)
        except Exception:
            runs = None
        pickle.dump((file, runs), output)
        output.flush()


if __name__ == "__main__":
    main()
