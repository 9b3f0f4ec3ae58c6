"""The errors that a user can see. Each message says what is wrong, what is expected and what to do next."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from difflib import get_close_matches


class PersonaFeedbackError(ValueError):
    """Anything this package refuses to do. Base class of the two below."""


class DataError(PersonaFeedbackError):
    """The benchmark data cannot be found or is not what the release promises."""


class OptionError(PersonaFeedbackError):
    """An option (setting, counts, category, ...) has a value that does not exist."""


def choose(option: str, value: object, known: Iterable[str]) -> str:
    """Return `value` if it is one of `known`; raise OptionError with the list, and the closest name, otherwise."""
    known = list(known)
    if isinstance(value, str) and value in known:
        return value
    raise OptionError(f"{option} must be one of {', '.join(known)}, got {value!r}.{did_you_mean(value, known)}")


def did_you_mean(value: object, known: Iterable[str]) -> str:
    """` Did you mean general_hard?` after a sentence about a name that does not exist; empty if none is close."""
    near = get_close_matches(str(value), list(known), n=1)
    return f" Did you mean {near[0]}?" if near else ""


def require(module: str, extra: str) -> None:
    """Raise ModuleNotFoundError with the extra to install if a harness is missing; without importing it."""
    if importlib.util.find_spec(module) is None:
        raise ModuleNotFoundError(
            f"{module} is not installed. Install it with `pip install 'personafeedback-tasks[{extra}]'`.", name=module
        )
