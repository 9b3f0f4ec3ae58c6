"""What a killed run was told stays told: a cache that only the same task, retried, reads.

Inspect starts a sample again that was not finished. Where a sample is written by one model and then judged by another, that would
ask the first one twice.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from inspect_ai.model import CachePolicy

TASK: ContextVar[str] = ContextVar("task", default="")
"""The id of the running task, which a retried log shares with the log that it continues; empty outside of a run."""


def kept() -> dict[str, Any]:
    """Arguments for `Model.generate`; none outside of a run."""
    task = TASK.get()
    return {"cache": CachePolicy(scopes={"task": task})} if task else {}
