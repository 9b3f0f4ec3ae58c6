"""A folder that a user names."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import DataError
from .records import short

SAMPLE = "sample"
"""Names the sample that a benchmark bundles, in place of a folder."""


def find(name: str) -> Path | None:
    """The folder of that name, in full; None if there is none."""
    folders = (place / os.path.expanduser(name) for place in _places(name))
    return next((folder.absolute() for folder in folders if os.path.isdir(folder)), None)


def located(data: str | os.PathLike[str] | None, variable: str, sample: Path, get: str) -> tuple[Path, str]:
    """(the folder that `data` names, what a signature prints: `sample`, or the folder's path).

    Args:
        data: a folder, or `sample`; None reads the environment variable.
        get: what to do without data, in a sentence or more.
    """
    name = (os.fspath(data) if data is not None else os.environ.get(variable, "")).strip()
    if name == SAMPLE:
        return sample, SAMPLE
    if not name:
        raise DataError(f"No data are named, and there are none to download. {get}")
    if (folder := find(name)) is not None:
        return folder, str(folder.resolve())
    raise DataError(f"There is no folder {short(name)}{looked(name)}. {get}")


def looked(name: str) -> str:
    """Where `find` looked, for a message; empty if there is one place only, which the name says."""
    places = _places(name)
    return f" (looked in {' and in '.join(map(str, places))})" if len(places) > 1 else ""


def _places(name: str) -> list[Path]:
    # The working directory, then where the user's shell is: Inspect changes into the folder of a task file.
    here, shell = Path.cwd(), Path(os.environ.get("PWD", ""))
    moved = shell.is_absolute() and shell.resolve() != here.resolve()
    return [here, shell] if moved and not os.path.isabs(os.path.expanduser(name)) else [here]
