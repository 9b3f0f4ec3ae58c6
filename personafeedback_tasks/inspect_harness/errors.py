"""Errors of ours as Inspect's command prints its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from inspect_ai._util.error import PrerequisiteError  # inspect-evals-lint: ignore[private_api_imports] -- no public one
from rich.markup import escape

from ..common.errors import PersonaFeedbackError


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Let Inspect's command print an error of ours, or a missing extra, as one line without traceback; its class
    stays."""
    try:
        yield
    except (PersonaFeedbackError, ModuleNotFoundError) as error:
        if isinstance(error, PrerequisiteError):
            raise
        kind = type(error)
        one_line = type(kind.__name__, (kind, PrerequisiteError), {"message": escape(str(error))})
        raise one_line(*error.args) from error
