"""Judges that are no language model, whose replies follow from the prompt or from a file; and `replay`, which has recorded replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..common.errors import OptionError
from .evidence import Reply
from .recorded import Key, read

Judge = Callable[[str, Mapping[str, Any]], Reply]
"""(the prompt; which case and call it is, under `case_id`, `call` and, from the second epoch on, `epoch`) -> a reply. Raises PersonaFeedbackError."""


class Replay:
    """A judge that gives each call the reply that a file has for it."""

    def __init__(self, replies: str | None = None) -> None:
        if not isinstance(replies, str) or not replies:
            found = "" if replies is None else f", got {replies!r}"
            raise OptionError(
                f"replay needs -M replies=FILE, a file as `personafeedback score-replies` takes it{found}."
            )
        self.recorded = read(Path(replies).expanduser())

    def __call__(self, prompt: str, about: Mapping[str, Any]) -> Reply:
        return self.recorded.get(Key(about["case_id"], about["call"], about.get("epoch", 1)))
