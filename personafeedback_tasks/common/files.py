"""Files that this package writes: replaced as a whole or not at all, and locked while they are read and changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from .errors import PersonaFeedbackError

Content = str | bytes | Iterable[str]  # an iterable is written piece by piece
LOCK_WAIT = 30.0  # seconds to wait for another process that changes the same file


class FileError(PersonaFeedbackError):
    """A file cannot be written or locked."""


def write(path: Path, content: Content) -> None:
    """Replace one file as a whole or not at all."""
    write_all({path: content})


def write_all(contents: Mapping[Path, Content]) -> None:
    """Replace files, text in UTF-8, so that none is ever half written; after a FileError all are unchanged."""
    # Nothing is replaced before all are on the disk. Folders that are missing are made. A link stays a link, and a file
    # keeps its mode.
    staged: dict[Path, tuple[Path, Path]] = {}
    try:
        for path, content in contents.items():
            with explained(path):
                target = Path(os.path.realpath(path))
                if target.exists() and not target.is_file():  # root could replace /dev/null
                    raise OSError("it is not a regular file")
                target.parent.mkdir(parents=True, exist_ok=True)
                temporary = target.with_name(f".personafeedback-{uuid4().hex}")  # beside it: on the same file system
                staged[path] = (temporary, target)
                with open(temporary, "xb") as file:
                    if target.exists():
                        shutil.copymode(target, temporary)  # before the content, which may be for nobody else
                    for part in [content] if isinstance(content, str | bytes) else content:
                        file.write(part.encode("utf-8") if isinstance(part, str) else part)
                    file.flush()
                    os.fsync(file.fileno())
        for path, (temporary, target) in staged.items():
            with explained(path):
                os.replace(temporary, target)
    finally:
        for temporary, _ in staged.values():
            temporary.unlink(missing_ok=True)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the system's errors about writing to a path into one sentence, a FileError."""
    try:
        yield
    except OSError as error:
        raise FileError(
            f"{path}: could not be written ({error.strerror or error}). Free disk space, fix permissions or use "
            "another place, then run this again."
        ) from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file or folder, which need not exist, against other processes that would read and change it."""
    # The lock is a hidden file beside it. It is removed while it is held: filelock (4.2) sees that a file it locked is
    # gone, and tries again.
    from filelock import FileLock, Timeout  # half as long to import as the whole command takes otherwise

    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name}.lock")
    with explained(path):
        lock.parent.mkdir(parents=True, exist_ok=True)
        try:
            held = FileLock(lock, timeout=LOCK_WAIT).acquire()
        except Timeout as error:
            raise FileError(
                f"{path}: another `personafeedback` process has locked it for {LOCK_WAIT:g} s. Wait until it ends, "
                "then run this again."
            ) from error
    with held:
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes no file that is open
                lock.unlink()
