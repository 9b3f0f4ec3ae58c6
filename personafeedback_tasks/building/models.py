"""Models that write in a step: their options, which the next command repeats; and the progress of their calls."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..common.errors import OptionError
from ..common.foreign import without_passwords
from ..common.records import argument, short_list

Batch = bool | int
"""Whether the provider's batch interface is used, or its size."""

Show = Callable[[str], None]
"""Shows a line of progress, which the next one replaces."""

_SECRET = re.compile("key|token|secret|password|header|credential", re.IGNORECASE)


def silent(line: str) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class Models:
    """Models of a step, with their options.

    Attributes:
        given: `KEY=VALUE`, an argument of all models, or `MODEL:KEY=VALUE`, of one.
        max_tokens, temperature: of each text; the provider's if None.
        show: gets a line of progress.

    Raises:
        OptionError: an argument has another form, or names an unknown model.
    """

    names: tuple[str, ...]
    given: tuple[str, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    batch: Batch = False
    show: Show = field(default=silent, compare=False)

    def __post_init__(self) -> None:
        _ = self.arguments

    @property
    def arguments(self) -> dict[str, dict[str, Any]]:
        """Model -> its arguments, parsed as Inspect does: numbers, true, lists. A model's own override those of all."""
        of_all, own = dict[str, Any](), {name: dict[str, Any]() for name in self.names}
        for pair in self.given:
            key, equals, value = pair.partition("=")
            model, name = _model(pair), key.rpartition(":")[2]
            if not equals or not name:
                raise OptionError(f"-M must be KEY=VALUE or MODEL:KEY=VALUE, got {pair!r}.")
            if model and model not in own:
                raise OptionError(
                    f"-M {pair}: expected one of the models {short_list(self.names)} before the colon, got {model!r}."
                )
            (own[model] if model else of_all)[name] = _value(value)
        return {model: of_all | arguments for model, arguments in own.items()}

    @property
    def first(self) -> Models:
        """The first model alone."""
        names = self.names[:1]
        return replace(self, names=names, given=tuple(pair for pair in self.given if _model(pair) in ("", *names)))

    def told(self, placeholders: Sequence[str], own_step: bool) -> str:
        """The options that name these models in a command: `--model NAME` and the others, without anything that may be secret.

        Args:
            placeholders: for missing models; a command that takes one model has one.
            own_step: it is the step that has just run, so that limits apply to its texts.
        """
        if len(placeholders) == 1 < len(self.names):
            return self.first.told(placeholders, own_step)
        found = [f"--model {shlex.quote(name)}" for name in (*self.names, *placeholders[len(self.names) :])]
        pairs = [pair for pair in self.given if not _SECRET.search(pair.partition("=")[0])]
        found += [f"-M {shlex.quote(without_passwords(pair))}" for pair in pairs]
        if own_step:
            limits = {"--max-tokens": self.max_tokens, "--temperature": self.temperature}
            found += [f"{name} {limit:g}" for name, limit in limits.items() if limit is not None]
        if self.batch:
            found.append("--batch" if self.batch is True else f"--batch={self.batch}")
        return " ".join(found)


NOBODY = Models(())


def _model(pair: str) -> str:
    return pair.partition("=")[0].rpartition(":")[0]


def _value(text: str) -> Any:
    try:
        return argument(text) if text else text
    except ValueError:
        return text


WIDTH = 20
"""Characters of the bar."""


class Progress:
    """Counts the calls of a step and shows a line after each. `clock` is in seconds."""

    def __init__(self, name: str, show: Show, clock: Callable[[], float] = time.monotonic):
        self._name, self._show, self._clock = name, show, clock
        self._start = clock()
        self._expected = self._asked = self._came = self._from_cache = self._tokens = 0

    def expect(self, calls: int) -> None:
        """Add calls to make if no text is refused."""
        self._expected += calls

    def ask(self, calls: int, again: int) -> None:
        """Note calls made now, some of them again for refused texts."""
        self._asked += calls
        self._expected += again

    def come(self, tokens: int | None) -> None:
        """Note the end of a call and its tokens; None if the reply was in the cache."""
        self._came += 1
        self._from_cache += tokens is None
        self._tokens += tokens or 0
        self._show(self.line)

    @property
    def line(self) -> str:
        """`answers [########------------] 192 of 480, 40 %, about 3 min left, 45,210 tokens`."""
        total, paid = max(self._expected, self._asked), self._came - self._from_cache
        share = self._came / total if total else 0
        bar = "#" * int(WIDTH * share)
        left = (
            f", {_about((self._clock() - self._start) / paid * (total - self._came))} left"
            if paid and total > self._came
            else ""
        )
        return f"{self._name} [{bar:-<{WIDTH}}] {self._came:,} of {total:,}, {100 * share:.0f} %{left}, {self._tokens:,} tokens"


def _about(seconds: float) -> str:
    minutes = round(seconds / 60)
    if not minutes:
        return f"about {max(1, round(seconds))} s"
    return f"about {minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"about {minutes} min"
