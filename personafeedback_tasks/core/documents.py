"""What a harness asks at once, its document: a case, or several that one reply answers together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from .cases import Case, digest_of
from .result import Answers

AnyCase = TypeVar("AnyCase", bound=Case)
T = TypeVar("T")


@dataclass(frozen=True)
class Document(Generic[AnyCase]):
    """Several cases of one user and one cell. It has what a case has, so that a harness can treat it as one."""

    id: str
    cases: tuple[AnyCase, ...]  # in the order in which the reply answers them

    @property
    def cell(self) -> str:
        return self.cases[0].cell

    @property
    def user_id(self) -> str:
        return self.cases[0].user_id

    @property
    def language(self) -> str:
        return self.cases[0].language

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of its id and its cases' digests in their order."""
        return digest_of((self.id, *(case.digest for case in self.cases)))


@dataclass(frozen=True, kw_only=True)
class Several:
    """How one call asks for several cases."""

    unit: str  # its documents, in the plural: `prompts`
    gather: Callable[[Sequence[Any]], list[Document[Any]]]  # both in the order of a run
    split: Callable[[str, int], Answers]  # (the reading of the reply, number of cases) -> the answer of each case


def cases_of(document: Any) -> tuple[Any, ...]:
    """The cases of a document; of a case, itself."""
    return document.cases if isinstance(document, Document) else (document,)


def of_settings(listed: Sequence[T], settings: int) -> list[Sequence[T]]:
    """What a document has setting after setting, such as its calls or replies -> the part of each setting."""
    each = -(-len(listed) // settings)
    return [listed[place * each : (place + 1) * each] for place in range(settings)]
