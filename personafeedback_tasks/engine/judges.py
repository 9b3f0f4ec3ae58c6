"""Judges that are no language model: their replies follow from the prompt, or from a file.

A benchmark has some of its own (`Benchmark.judges`). Those for all benchmarks are declared by the entry point group
`personafeedback_tasks.judges`: name -> module:factory. A factory takes the model arguments that users pass, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple

GROUP = "personafeedback_tasks.judges"
"""The entry point group."""


class Reply(NamedTuple):
    """What a judge says.

    Attributes:
        text: all of it.
        truncated: it was cut off by a token limit.
    """

    text: str
    truncated: bool = False


Judge = Callable[[str, Mapping[str, Any]], Reply]
"""(the prompt; which case and call it is, under `case_id` and `call`) -> a reply. Raises PersonaFeedbackError."""


@cache
def factories() -> dict[str, Callable[..., Judge]]:
    """Name -> what makes the judge from the model arguments that it takes. Raises TypeError for others."""
    return {entry.name: entry.load() for entry in entry_points(group=GROUP)}
