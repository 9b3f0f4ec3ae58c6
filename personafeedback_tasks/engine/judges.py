"""Judges that are no language model: their replies follow from the prompt, or from a file.

A benchmark has some of its own (`Benchmark.judges`). Those for all benchmarks are declared by the entry point group
`personafeedback_tasks.judges`: name -> module:factory. A factory takes the model arguments that users pass, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from .evidence import Reply as Reply

GROUP = "personafeedback_tasks.judges"
"""The entry point group."""


Judge = Callable[[str, Mapping[str, Any]], Reply]
"""(the prompt; which case and call it is, under `case_id`, `call` and, from the second epoch on, `epoch`) -> a reply. Raises PersonaFeedbackError.

If it is a class with a method `before`, that is told the calls of a run (see `recorded.Key`), and what it returns is printed.
"""


@cache
def factories() -> dict[str, Callable[..., Judge]]:
    """Name -> what makes the judge from the model arguments that it takes. Raises TypeError for others."""
    return {entry.name: entry.load() for entry in entry_points(group=GROUP)}
