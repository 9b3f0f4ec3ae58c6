"""Models that write in a step, with their options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Models:
    """Models of a step, with their options.

    Attributes:
        names: the first one writes personas and questions; all of them answer. None if only a team's texts are taken.
        arguments: of all models.
        max_tokens, temperature: of each text; the provider's if None.
        batch: whether the provider's batch interface is used.
        show: gets a line of progress, which the next one replaces.
    """

    names: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int | None = None
    temperature: float | None = None
    batch: bool = False
    show: Callable[[str], None] = field(default=lambda line: None, compare=False)
