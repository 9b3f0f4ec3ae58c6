"""Where in a release's folder the cases of each cell are, and which cells there must be."""

from __future__ import annotations

from pathlib import Path

from ..common.errors import DataError
from . import manifest
from .cells import PAPER_COUNTS
from .release import Release

_FOLDERS = {"specific": ("spedific", "specific"), "general": ("general",)}
_FILES = {"easy": ("easy",), "medium": ("medium", "mid"), "hard": ("hard",)}


def selected(release: Release, wanted: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The cells to load.

    Raises:
        DataError: it is a set that has none of them, or whose files are not those of its manifest.
    """
    if release.manifest is None:
        return wanted
    path = release.root / manifest.FILE
    named = release.counts
    for cell in PAPER_COUNTS:
        if files := (files_of(release.root, *cell) if cell not in named else []):
            raise DataError(
                f"{path}: found no {'_'.join(cell)} in counts, expected the number of cases of {files[0]}. Add it, or remove "
                "the file."
            )
        if cell in named and not files_of(release.root, *cell):
            raise DataError(
                f"{path}: found {'_'.join(cell)} = {named[cell]} in counts, expected a file of these cases: "
                f"{' or '.join(map(str, names_of(release.root, *cell)))}. Get a complete copy of the set, or remove the count."
            )
    in_set = [cell for cell in wanted if cell in named]
    if not in_set:
        raise DataError(
            f"{path}: found no {' or '.join(map('_'.join, wanted))} in counts, expected one of the cells that are asked. Run only "
            f"tasks of the cells that this set has: {', '.join(map('_'.join, named))}."
        )
    return in_set


def names_of(root: Path, category: str, difficulty: str) -> list[Path]:
    """Every path that a cell's file may have."""
    return [root / "data" / folder / f"{name}.jsonl" for folder in _FOLDERS[category] for name in _FILES[difficulty]]


def files_of(root: Path, category: str, difficulty: str) -> list[Path]:
    """The files that a copy of the release has for a cell: one, or none."""
    return [path for path in names_of(root, category, difficulty) if path.is_file()]


def cell_file(root: Path, category: str, difficulty: str) -> Path:
    files = files_of(root, category, difficulty)
    if len(files) == 1:
        return files[0]
    names = " or ".join(map(str, names_of(root, category, difficulty)))
    if files:
        raise DataError(f"{names}: found {len(files)} of them, expected one. Remove the file that does not belong.")
    raise DataError(
        f"{names}: no such file, so there are no {category}_{difficulty} cases. "
        "Get a complete copy of the release, or run only tasks whose cells are all present."
    )
