"""How far a step is that asks models: one line with a bar, the time that is left, and the tokens spent."""

from __future__ import annotations

import time
from collections.abc import Callable

from .models import Show

WIDTH = 20
"""Characters of the bar."""


class Progress:
    """Counts the calls of a step and shows a line after each.

    Args:
        name: of the step.
        clock: seconds.
    """

    def __init__(self, name: str, show: Show, clock: Callable[[], float] = time.monotonic):
        self._name, self._show, self._clock = name, show, clock
        self._start = clock()
        self._expected = self._asked = self._came = self._from_cache = self._tokens = 0

    def expect(self, calls: int) -> None:
        """The step will make so many calls more, if no text is refused."""
        self._expected += calls

    def ask(self, calls: int, again: int) -> None:
        """So many calls are made now, some of them in place of texts that were refused."""
        self._asked += calls
        self._expected += again

    def come(self, tokens: int | None) -> None:
        """A call ended, with so many tokens spent; None if its reply was in the cache."""
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
