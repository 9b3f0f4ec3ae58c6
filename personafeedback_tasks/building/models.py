"""Models that write in a step, with their options."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ..common.errors import OptionError, did_you_mean
from ..common.records import argument, short_list


@dataclass(frozen=True)
class Models:
    """Models of a step, with their options.

    Attributes:
        names: the first one writes personas and questions; all of them answer. None if only a team's texts are taken.
        given: `KEY=VALUE`, an argument of all models, or `MODEL:KEY=VALUE`, of one.
        max_tokens, temperature: of each text; the provider's if None.
        batch: whether the provider's batch interface is used.
        show: gets a line of progress, which the next one replaces.

    Raises:
        OptionError: an argument has another form, or names an unknown model.
    """

    names: tuple[str, ...]
    given: tuple[str, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    batch: bool = False
    show: Callable[[str], None] = field(default=lambda line: None, compare=False)

    def __post_init__(self) -> None:
        _ = self.arguments

    @property
    def arguments(self) -> dict[str, dict[str, Any]]:
        """Model -> its arguments, parsed as Inspect does: numbers, true, lists. A model's own override those of all."""
        of_all, own = dict[str, Any](), {name: dict[str, Any]() for name in self.names}
        for pair in self.given:
            key, equals, text = pair.partition("=")
            model, _, name = key.rpartition(":")
            if not equals or not name:
                raise OptionError(f"-M must be KEY=VALUE or MODEL:KEY=VALUE, got {pair!r}.")
            if model and model not in own:
                raise OptionError(
                    f"-M {pair}: expected one of the models {short_list(self.names)} before the colon, got {model!r}."
                    f"{did_you_mean(model, self.names)}"
                )
            value: Any = text
            if text:
                with suppress(ValueError):  # what is no YAML is a text
                    value = argument(text)
            (own[model] if model else of_all)[name] = value
        return {model: of_all | arguments for model, arguments in own.items()}
