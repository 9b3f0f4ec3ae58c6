"""A release is put in place as a whole, once the strict loader has read it. Killed at any moment, the last one is
still there, or the next run puts it back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ...common.files import copy_all_but, explained, write_all
from ...personafeedback.cases import CaseSet, load_present

RELEASE, NEXT, LAST = "release", ".release-next", ".release-last"
"""Names in the build's folder: of the release, of the one that is being made, and of the one before while they change places."""

OWN = ("data", "persona", "memory", "set.json", "README.md")
"""What a release has of ours."""


@contextmanager
def staged(root: Path, contents: Mapping[PurePosixPath, str | bytes]) -> Iterator[tuple[Path, CaseSet]]:
    """(a folder beside the release with these contents, its cases); the folder goes away at the end unless it was put in place.

    Raises:
        DataError: the loader refuses it.
        FileError: it cannot be written.
    """
    place, last = root / NEXT, root / LAST
    with explained(place):
        if last.exists() and not (root / RELEASE).exists():  # killed between the two steps of `put_in_place`
            os.replace(last, root / RELEASE)
        shutil.rmtree(last, ignore_errors=True)
        shutil.rmtree(place, ignore_errors=True)
    try:
        write_all({place / name: content for name, content in contents.items()})
        yield place, load_present(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def put_in_place(root: Path) -> None:
    """Let the staged folder be the release. What somebody added to the one before, such as a LICENSE or .git, stays."""
    out, place, last = root / RELEASE, root / NEXT, root / LAST
    with explained(out):
        if out.exists():
            copy_all_but(OWN, out, place)  # a copy: whenever this is killed, the release has it still
            os.replace(out, last)
        os.replace(place, out)
        shutil.rmtree(last, ignore_errors=True)
