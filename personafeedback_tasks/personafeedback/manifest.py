"""`set.json`: describes a data folder in the release's layout that is not the release. Strict.

Whatever is printed about such a set says the set's name and never the benchmark's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ..common.errors import DataError
from ..common.outputs import json_text, jsonable
from ..common.records import decoded, load_json, short
from ..core.duels import Duel
from .cells import CELLS, DIFFICULTIES

FILE = "set.json"
FORMAT = 1
OPTIONAL = ("noise", "duel")
"""Keys that a file may lack; the others may be null."""
BENCHMARK = "PersonaFeedback"
UNKNOWN = "unknown"
"""The license of texts that nobody gave one."""

LONGEST_NAME, LONGEST_TEXT = 100, 1000
"""Characters: of a name, which is part of each task's name, and of a sentence."""

CHOSEN, REJECTED = "chosen", "rejected"
"""The other side of a duel, if it is one of the benchmark's own responses."""


Count = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Agreement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far the annotators agree."""

    measure: str  # with its coding: `Fleiss' kappa, a random side per pair`
    value: Annotated[float, Meta(ge=-1, le=1)]
    low: float | None = None  # of its 95 % interval
    high: float | None = None


class LabelNoise(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far the labels depend on who voted."""

    measure: str  # definition of the risk
    by_tier: Mapping[str, Share]  # difficulty -> the mean risk of its cases


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The description of a set. Its texts are foreign: to be escaped where they are shown."""

    name: str  # printable, at most LONGEST_NAME characters
    counts: Mapping[str, Count]  # cell -> number of its cases, of the cells that the set has
    labels: str  # a sentence on how the labels arose
    generator: str  # the models, or the people, that wrote the texts
    license: str = UNKNOWN  # of the texts, such as an SPDX id
    annotators: Count | None = None  # number of people whose votes are behind the labels; None if there were none
    agreement: Agreement | None = None
    noise: LabelNoise | None = None
    duel: Duel | None = None

    @classmethod
    def load(cls, root: Path) -> Manifest | None:
        path = root / FILE
        if not os.path.lexists(path):  # a link to nowhere is no absence
            return None
        return _parsed(path, load_json(path, "one JSON object in UTF-8", _FIX))

    def content(self, root: Path) -> str:
        """The text of the file. Raises DataError for what `load` would not accept."""
        _parsed(root / FILE, self.as_dict())
        return json_text(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """As in the file; the keys of label noise and of a duel only where there is one."""
        document = {"format": FORMAT, **jsonable(self)}
        return {name: value for name, value in document.items() if value is not None or name not in OPTIONAL}


_FIX = f"Fix it, or get a complete copy of the set; without {FILE} the folder counts as a copy of PersonaFeedback."


def is_line(value: object, longest: int) -> bool:
    """Whether it is a text of one printable line, of 1 to `longest` characters, without spaces around it."""
    return isinstance(value, str) and value == value.strip() and value.isprintable() and 0 < len(value) <= longest


def is_the_benchmarks(name: str) -> bool:
    """Whether a set of this name would be taken for the benchmark."""
    return "".join(filter(str.isalnum, name)).casefold() == BENCHMARK.casefold()


def _parsed(path: Path, document: Any) -> Manifest:
    if isinstance(document, dict):
        written = document.get("format")
        if type(written) is not int or written != FORMAT:  # True is 1, and so is 1.0
            remedy = "If a later version wrote the file, upgrade personafeedback-tasks."
            raise _wrong(path, "format", written, str(FORMAT), remedy)
        document = {name: value for name, value in document.items() if name != "format"}
    found = decoded(path, document, Manifest, _FIX)
    if not is_line(found.name, LONGEST_NAME):
        expected = f"one line of 1 to {LONGEST_NAME} printable characters, without spaces around it"
        raise _wrong(path, "name", found.name, expected)
    if is_the_benchmarks(found.name):
        raise _wrong(path, "name", found.name, "a name that is not the benchmark's")
    if not found.counts or not found.counts.keys() <= {*CELLS}:
        raise _wrong(path, "counts", dict(found.counts), f"the numbers of cases of some of {', '.join(CELLS)}")
    if found.noise and not found.noise.by_tier.keys() <= {*DIFFICULTIES}:
        raise _wrong(path, "noise.by_tier", [*found.noise.by_tier], f"some of {', '.join(DIFFICULTIES)}")
    if found.duel and (asked := sum(found.counts.values())) + len(found.duel.not_asked) != found.duel.pairs:
        pairs = f"{asked} asked and {len(found.duel.not_asked)} not asked"
        expected = f"{found.duel.pairs} in all, as duel.pairs says"
        raise _wrong(path, "the pairs", pairs, expected, "Get a complete copy, or make the duels again.")
    return msgspec.structs.replace(found, counts={cell: found.counts[cell] for cell in CELLS if cell in found.counts})


def _wrong(path: Path, place: str, found: object, expected: str, remedy: str = _FIX) -> DataError:
    return DataError(f"{path}: found {place} = {short(found)}, expected {expected}. {remedy}")
