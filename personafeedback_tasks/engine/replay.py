"""The judge `replay`: it answers from recorded replies and asks nobody."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ..common.errors import OptionError
from .evidence import Reply
from .recorded import Key, read


class Replay:
    """A judge that gives each call the reply that a file has for it."""

    def __init__(self, replies: str | None = None) -> None:
        """
        Raises:
            OptionError: no file is named.
            DataError: the file is broken.
        """
        if not isinstance(replies, str) or not replies:
            found = "" if replies is None else f", got {replies!r}"
            raise OptionError(
                f"replay needs -M replies=FILE, a file that `personafeedback replies` wrote or one like it{found}."
            )
        self.recorded = read(Path(replies).expanduser())

    def __call__(self, prompt: str, about: Mapping[str, Any]) -> Reply:
        """
        Raises:
            DataError: the file has no reply to this call.
        """
        return self.recorded.get(Key(about["case_id"], about["call"], about.get("epoch", 1)))

    def before(self, asked: Collection[Key]) -> str:
        """One line on what the file has beyond the calls of a run, and on what it lacks; see `judges.Judge`."""
        return self.recorded.compared(asked)
