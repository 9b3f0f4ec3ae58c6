"""Cases: one, and the cases of a run."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Generic, Protocol, TypeVar

from ..common.errors import DataError
from ..common.folders import SAMPLE

HUB_COMMIT = re.compile(r"(?P<id>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40})")
"""A source that anybody can get: a commit on the Hub."""


class Case(Protocol):
    """One test case of any benchmark."""

    @property
    def id(self) -> str: ...  # unique in its benchmark; logs refer to it
    @property
    def cell(self) -> str: ...  # the smallest group of cases that a table shows
    @property
    def user_id(self) -> str: ...  # standard errors are clustered by it
    @property
    def language(self) -> str: ...
    @property
    def digest(self) -> str: ...  # of the id and of every text, so that no answer is scored against other data


AnyCase = TypeVar("AnyCase", bound=Case)


@dataclass(frozen=True)
class NamedSet:
    """Data in a benchmark's layout that are not the benchmark's: whatever is said about a run on them names them."""

    name: str  # one printable line
    counts: Mapping[str, int]  # cell -> number of its cases, of the cells that it has


class CaseSet(ABC, Sequence[AnyCase], Generic[AnyCase]):
    """The cases of one run, in the order in which a harness gets them. Base class of each benchmark's own."""

    cases: tuple[AnyCase, ...]
    counts: str  # `any` if the data were not checked for completeness, else what they were checked against

    @property
    @abstractmethod
    def cell_order(self) -> tuple[str, ...]:
        """Every cell of the benchmark, in the order of its tables."""

    @property
    @abstractmethod
    def source(self) -> str:
        """What a signature prints: `sample`, `OWNER/NAME@COMMIT`, or a folder's path."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of all data that a run could read, whatever cells were asked, from any source."""

    @property
    def demonstration(self) -> bool:
        """Whether these are a bundled sample, or made of one: not evidence about any model."""
        return self.source == SAMPLE

    @property
    def named_set(self) -> NamedSet | None:
        """What the data are, if they are not the benchmark's own."""
        return None

    @property
    def remark(self) -> str:
        """What the name of a task must say about the data; empty for the benchmark's own."""
        return remark_of(self.demonstration, self.named_set)

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[AnyCase]:
        return iter(self.cases)

    def __getitem__(self, index: Any) -> Any:
        return self.cases[index]

    @cached_property
    def cells(self) -> dict[str, tuple[AnyCase, ...]]:
        """Cell -> its cases, the cells that are present in the order of the tables."""
        cells: dict[str, list[AnyCase]] = {cell: [] for cell in self.cell_order}
        for case in self.cases:
            cells[case.cell].append(case)
        return {cell: tuple(cases) for cell, cases in cells.items() if cases}

    @cached_property
    def digests(self) -> dict[str, str]:
        """Cell -> SHA-256 (12 hex digits) of its cases."""
        return {cell: digest_of(sorted(case.digest for case in cases)) for cell, cases in self.cells.items()}

    @property
    def revision(self) -> str:
        """What a signature prints about the data."""
        unchecked = ", counts=any" if self.counts == "any" else ""
        named = f"set {self.named_set.name}, " if self.named_set else ""
        return f"{shown_source(self.source)} ({named}sha256 {self.digest}{unchecked})"


def refuse_other_counts(source: str, cells: Mapping[str, Sequence[object]], expected: Mapping[str, int]) -> None:
    """Raise DataError unless every cell has the number of cases that it must have."""
    for cell, count in expected.items():
        if len(cells.get(cell, ())) != count:
            raise DataError(
                f"{source}: found {len(cells.get(cell, ()))} cases of {cell}, expected {count}. Get a complete copy, "
                "or pass counts=any to run on the cases that are present; the results then say so."
            )


def each_and_all(cells: Collection[str]) -> dict[str, list[str]]:
    """The columns of a table: each cell where there are several, and all of them."""
    return {**({cell: [cell] for cell in cells} if len(cells) > 1 else {}), **({"total": list(cells)} if cells else {})}


def shown_source(source: str) -> str:
    """A source as outputs show it: of a folder only its own name, since a path may have a person's name in it."""
    return source if HUB_COMMIT.fullmatch(source) else re.split(r"[/\\]+", source.rstrip("/\\"))[-1]


def remark_of(demonstration: bool, named: NamedSet | None) -> str:
    """What the name of a task must say about its data; empty for the benchmark's own."""
    return named.name if named else "demonstration" if demonstration else ""


def digest_of(parts: Sequence[object]) -> str:
    """SHA-256 (12 hex digits) of JSON values."""
    return _sha256(json.dumps(parts))


def digest_of_texts(texts: Sequence[str]) -> str:
    """`digest_of` of texts that other cases share, as of one user."""
    return _sha256(f"[{', '.join(map(_json, texts))}]")


_json = lru_cache(maxsize=256)(json.dumps)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
