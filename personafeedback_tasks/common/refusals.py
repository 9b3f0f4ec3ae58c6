"""The last line of a run that was refused: our sentence, below the traceback of a harness."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import TracebackType

from . import foreign
from .errors import PersonaFeedbackError


@contextmanager
def said_last() -> Iterator[None]:
    """If an error of ours leaves this and nobody catches it, its sentence is printed once more, after all else.

    Both harnesses show an error in a task as a traceback: some 30 lines in lm-eval, 280 in Inspect.
    """
    try:
        yield
    except PersonaFeedbackError:
        _extend_the_excepthook()
        raise


@cache
def _extend_the_excepthook() -> None:
    """Python calls the hook for an uncaught error only: what a notebook or a test catches prints nothing."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        before(kind, error, traceback)
        if isinstance(error, PersonaFeedbackError):
            print(f"\nError: {foreign.terminal(str(error))}", file=sys.stderr, flush=True)

    sys.excepthook = hook
