"""Files that this package writes: replaced as a whole or not at all, and locked while they are read and changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from .errors import PersonaFeedbackError

Content = str | bytes | Iterable[str]
"""The content of a file. An iterable is written piece by piece, so a large file is never in memory as a whole."""

LOCK_WAIT = 30.0
"""Seconds to wait for another process that changes the same file."""


class FileError(PersonaFeedbackError):
    """A file cannot be written or locked."""


def write(path: Path, content: Content) -> None:
    """Replace one file, see `write_all`."""
    write_all({path: content})


def write_all(contents: Mapping[Path, Content]) -> None:
    """Replace files, text in UTF-8, so that none is ever half written: nothing is replaced before all are on the disk.

    Folders that are missing are made. A link stays a link, and a file keeps its mode.

    Raises:
        FileError: one of them cannot be written. All are unchanged.
    """
    staged: list[tuple[Path, Path, Path]] = []
    made: list[Path] = []
    try:
        for path, content in contents.items():
            with explained(path):
                if path.exists() and not path.is_file() and not path.is_dir():
                    with open(path, "wb") as device:  # or a pipe: has no content, and must not be replaced
                        device.writelines(_encoded(content))
                    continue
                with suppress(FileNotFoundError):  # a folder or a write-protected file raises; replacing it might not
                    os.close(os.open(path, os.O_WRONLY))
                target = Path(os.path.realpath(path))
                staged.append((path, target, _beside(target)))
                made += [folder for folder in target.parents if not folder.exists()]
                _stage(*staged[-1][1:], content)
        for path, target, temporary in staged:
            with explained(path):
                os.replace(temporary, target)
    finally:
        for _, _, temporary in staged:
            with suppress(OSError):
                temporary.unlink()
        _remove_empty(made)


def copy_all_but(names: Collection[str], folder: Path, to: Path) -> None:
    """Copy what a folder has, but for some names, into another folder, which has none of it. Links stay links.

    Raises:
        OSError: something cannot be read or written.
    """
    for path in folder.iterdir():
        if path.name in names:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, to / path.name, symlinks=True)
        else:
            shutil.copy2(path, to / path.name, follow_symlinks=False)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the system's errors about writing to a path into one sentence.

    Raises:
        FileError: the block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        raise FileError(
            f"{path}: could not be written ({error.strerror or error}). Free disk space, fix permissions or use another "
            "place, then run this again."
        ) from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file or folder against other processes that would read and change it; it need not exist.

    The lock is a hidden file beside it. It is removed while it is held: filelock (4.2) sees that a file it locked is gone, and tries again.

    Raises:
        FileError: another process holds the lock for more than LOCK_WAIT seconds, or it cannot be written.
    """
    from filelock import FileLock, Timeout  # half as long to import as the whole command takes otherwise

    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name[:40]}.lock")  # short: the name may be as long as can be
    made = [folder for folder in lock.parents if not folder.exists()]
    try:
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
    finally:
        _remove_empty(made)


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # not empty: all went well
            folder.rmdir()


def _stage(target: Path, temporary: Path, content: Content) -> None:
    """Write the replacement of `target`, with its mode."""
    temporary.parent.mkdir(parents=True, exist_ok=True)
    with open(temporary, "xb") as file:
        with suppress(FileNotFoundError):
            shutil.copymode(target, temporary)  # before the content, which may be for nobody else
        file.writelines(_encoded(content))
        file.flush()
        os.fsync(file.fileno())


def _encoded(content: Content) -> Iterator[bytes]:
    for part in [content] if isinstance(content, str | bytes) else content:
        yield part.encode("utf-8") if isinstance(part, str) else part


def _beside(path: Path) -> Path:
    """A new name in the same folder, so on the same file system. Short: the name of `path` may be as long as can be."""
    return path.with_name(f".personafeedback-{uuid4().hex}")
