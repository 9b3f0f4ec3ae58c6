"""Finds the release: a folder, the bundled sample, or a Hub dataset at a pinned revision; and its cells' files."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from ..common import folders
from ..common.errors import DataError
from . import manifest
from .cells import PAPER_COUNTS
from .manifest import Manifest
from .others import Others
from .persona import Persona, load_profile

HUB_ID = "PersonalAILab/PersonaFeedback"
HUB_REVISION = "785d5900d6721db765ba07d65c252f48909a66ce"
ENVIRONMENT_VARIABLE = "PERSONAFEEDBACK_DATA"
SAMPLE = folders.SAMPLE
SAMPLE_CASES_PER_CELL = 8

_FOLDERS = {"specific": ("spedific", "specific"), "general": ("general",)}
_FILES = {"easy": ("easy",), "medium": ("medium", "mid"), "hard": ("hard",)}
"""Spellings of a category's folder and of a difficulty's file."""

_FETCHED = ["data/*", "persona/*", "memory/*", manifest.FILE]
"""What is read from a dataset on the Hub. The release has no memories and no manifest; yours may."""

_HUB_DATASET = re.compile(r"(?P<id>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")


@dataclass(frozen=True)
class Release:
    """One copy of the release on this machine."""

    root: Path  # it contains `data/`, `persona/` and maybe `memory/`
    source: str  # for signatures: `sample`, `OWNER/NAME@COMMIT`, or the folder's path
    manifest: Manifest | None = None  # None for PersonaFeedback itself

    @property
    def counts(self) -> Mapping[str, int]:
        """Cell -> number of its cases, of the cells that the data must have."""
        if self.manifest is not None:
            return self.manifest.counts
        return dict.fromkeys(PAPER_COUNTS, SAMPLE_CASES_PER_CELL) if self.source == SAMPLE else PAPER_COUNTS

    @cached_property
    def others(self) -> Others:
        paths = sorted((self.root / "persona").glob("*.json"))
        return Others(self.root, {path.stem: Persona(path.stem, load_profile(path)) for path in paths})

    @cached_property
    def similar(self) -> Others:
        return replace(self.others, similar=True)  # the same personas, read once

    def given(self, setting: str) -> Others:
        """Who gets whose persona under `other_persona` or `similar_persona`."""
        return self.similar if setting == "similar_persona" else self.others


def locate(data: str | os.PathLike[str] | None = None) -> Release:
    """Find the release that `data` names, fetching it from the Hub if need be.

    Args:
        data: a folder in the release's layout, `sample`, or a Hub dataset id with an optional `@revision`.
            None reads PERSONAFEEDBACK_DATA, and if that is unset uses the pinned Hub release.

    Raises:
        DataError: there is no such folder, its manifest is broken, or the Hub cannot serve the dataset.
    """
    name = os.fspath(data) if data is not None else os.environ.get(ENVIRONMENT_VARIABLE, "")
    name = name.strip() or HUB_ID
    if name == SAMPLE:
        return Release(Path(__file__).with_name(SAMPLE), SAMPLE)
    folder = folders.find(name)
    if folder is not None:
        return Release(folder, str(folder.resolve()), Manifest.load(folder))
    hub = _HUB_DATASET.fullmatch(name)
    if hub is None or name.startswith((".", "~")):
        raise DataError(
            f"There is no folder {name!r}{folders.looked(name)}, and it is not a Hub dataset id (OWNER/NAME or "
            f"OWNER/NAME@REVISION). Set {ENVIRONMENT_VARIABLE} (or data=) to a folder that contains data/ and "
            f"persona/, to {SAMPLE!r}, or to a dataset id."
        )
    return _fetch(name, hub["id"], hub["revision"] or (HUB_REVISION if hub["id"] == HUB_ID else None))


@cache
def _fetch(name: str, hub_id: str, revision: str | None) -> Release:
    from huggingface_hub import snapshot_download

    try:
        root = Path(snapshot_download(hub_id, repo_type="dataset", revision=revision, allow_patterns=_FETCHED))
    except Exception as error:  # the Hub client has a dozen unrelated classes for "could not get it"
        no_folder = "" if revision else f"There is no folder {name!r}{folders.looked(name)}. "
        reason = (str(error).strip() or "no reason given").splitlines()[0]
        raise DataError(
            f"{no_folder}Could not get {hub_id}@{revision or 'main'} from the Hugging Face Hub "
            f"({type(error).__name__}: {reason}). If the dataset is gated or private, set HF_TOKEN to a token with "
            "read access. To work offline, copy the release (data/ and persona/) into a folder and set "
            f"{ENVIRONMENT_VARIABLE} to it, or fill the Hub cache once and set HF_HUB_OFFLINE=1. "
            f"{ENVIRONMENT_VARIABLE}={SAMPLE} runs the bundled demonstration."
        ) from error
    # A snapshot is in a folder named after its commit, whatever branch or tag was requested.
    return Release(root, f"{hub_id}@{root.name}", Manifest.load(root))


def selected(release: Release, wanted: Sequence[str]) -> Sequence[str]:
    """The cells to load. Raises DataError for a set without them, or with a file that its manifest does not count."""
    if release.manifest is None:
        return wanted
    path, named = release.root / manifest.FILE, release.counts
    if without := [cell for cell in PAPER_COUNTS if cell not in named and files_of(release.root, cell)]:
        raise DataError(
            f"{path}: found no {without[0]} in counts, expected the number of cases of its file. Add it, or remove the "
            "file."
        )
    in_set = [cell for cell in wanted if cell in named]
    if not in_set:
        raise DataError(
            f"{path}: found no {' or '.join(wanted)} in counts, expected one of the cells that are asked. Run only "
            f"tasks of the cells that this set has: {', '.join(named)}."
        )
    return in_set


def _names_of(root: Path, cell: str) -> list[Path]:
    category, difficulty = cell.split("_")
    return [root / "data" / folder / f"{name}.jsonl" for folder in _FOLDERS[category] for name in _FILES[difficulty]]


def files_of(root: Path, cell: str) -> list[Path]:
    """The files that a copy of the release has for a cell: more than one are an error of the copy."""
    return [path for path in _names_of(root, cell) if path.is_file()]


def cell_file(root: Path, cell: str) -> Path:
    files = files_of(root, cell)
    if len(files) == 1:
        return files[0]
    names = " or ".join(map(str, _names_of(root, cell)))
    if files:
        raise DataError(f"{names}: found {len(files)} of them, expected one. Remove the file that does not belong.")
    present = [other for other in PAPER_COUNTS if files_of(root, other)]
    if not present:
        raise DataError(
            f"{root}: found no cases in it, expected a copy of the release, such as {names}. Set "
            f"{ENVIRONMENT_VARIABLE} (or data=) to the folder that contains data/ and persona/."
        )
    raise DataError(
        f"{names}: no such file, so there are no {cell} cases. Get a complete copy of the release, or run only tasks "
        f"whose cells are all present: {', '.join(present)}."
    )
