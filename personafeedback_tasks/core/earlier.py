"""What an earlier run wrote, for a task that goes on from it.

Logs are read in a room above the harnesses, so what reads them is found by the entry point group `personafeedback_tasks.earlier`:
`run` -> module:function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from .evidence import Reply

GROUP = "personafeedback_tasks.earlier"
"""The entry point group."""


@dataclass(frozen=True)
class EarlierCase:
    """One case of a run, as its log has it.

    Attributes:
        facts: see `method.TextMethod`.
        answers: what the replies were read to, one per call.
        replies: one per call.
    """

    id: str
    user_id: str
    cell: str
    facts: Mapping[str, Any]
    answers: tuple[str, ...]
    replies: tuple[Reply, ...]


@dataclass(frozen=True)
class Earlier:
    """A run that came to its end.

    Attributes:
        model: as the harness named it, and how it was asked where that is not the default.
        data: the digest of its data; digest: SHA-256 (12 hex digits) of them and of all replies.
        where: a log of it, for errors.
    """

    model: str
    data: str
    digest: str
    where: str
    cases: tuple[EarlierCase, ...]


@cache
def _reader() -> Callable[[str, str], Earlier]:
    (entry,) = entry_points(group=GROUP, name="run")
    reader: Callable[[str, str], Earlier] = entry.load()
    return reader


def earlier(place: str, benchmark: str) -> Earlier:
    """The one run of a benchmark in a log or a folder.

    Raises:
        RunError: there is none, or several, it did not come to its end, or asked each case several times.
    """
    return _reader()(place, benchmark)
