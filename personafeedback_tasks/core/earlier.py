"""What an earlier run wrote, for a task that goes on from it.

Logs are read in a room above the harnesses, so their reader is found by the entry point `run` -> module:function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from .method import Reply

GROUP = "personafeedback_tasks.earlier"
"""The entry point group."""


@dataclass(frozen=True)
class EarlierCase:
    """One case of a run, as its log has it."""

    id: str
    user_id: str
    cell: str
    facts: Mapping[str, Any]  # see `method.TextMethod`
    answers: tuple[str, ...]  # what the replies were read to, one per call
    replies: tuple[Reply, ...]  # one per call


@dataclass(frozen=True)
class Earlier:
    """A run that came to its end."""

    model: str  # as the harness named it, and how it was asked where that is not the default
    data: str  # digest of its data
    demonstration: bool  # whether they are a bundled sample, or made of one
    digest: str  # SHA-256 (12 hex digits) of the data and of all replies
    where: str  # a log of it, for errors
    cases: tuple[EarlierCase, ...]


def earlier(place: str, benchmark: str) -> Earlier:
    """The one run of a benchmark in a log or a folder; RunError unless it came to its end and asked each case once."""
    (entry,) = entry_points(group=GROUP, name="run")
    found: Earlier = entry.load()(place, benchmark)
    return found
