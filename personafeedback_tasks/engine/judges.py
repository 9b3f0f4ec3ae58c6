"""Judges that are no language model: their replies follow from the prompt, or from a file.

A benchmark has some of its own (`Benchmark.judges`). Those for all benchmarks are declared by the entry point group
`personafeedback_tasks.judges`: name -> module:factory. A factory takes the model arguments that users pass, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from ..replies.answers import REASONS

GROUP = "personafeedback_tasks.judges"
"""The entry point group."""


class Reply(NamedTuple):
    """What a judge says.

    Attributes:
        text: all of it.
        truncated: it was cut off by a token limit; None where nobody knows, as in lm-eval.
        filtered: a filter of the provider withheld it, or its end.
    """

    text: str
    truncated: bool | None = False
    filtered: bool = False


def answer_in(reply: Reply, read: Callable[[str, bool], str]) -> str:
    """What a reply is read to, or the reason why it cannot be read.

    Args:
        read: as `Method.read`.
    """
    answer = read(reply.text, bool(reply.truncated))
    if answer not in REASONS:
        return answer
    return "truncated" if reply.truncated else "refusal" if reply.filtered else answer


Judge = Callable[[str, Mapping[str, Any]], Reply]
"""(the prompt; which case and call it is, under `case_id`, `call` and, from the second epoch on, `epoch`) -> a reply. Raises PersonaFeedbackError.

If it is a class with a method `before`, that is told the calls of a run (see `recorded.Key`), and what it returns is printed.
"""


@cache
def factories() -> dict[str, Callable[..., Judge]]:
    """Name -> what makes the judge from the model arguments that it takes. Raises TypeError for others."""
    return {entry.name: entry.load() for entry in entry_points(group=GROUP)}
