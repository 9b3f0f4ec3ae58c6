"""Conversations that a reward model scores: their turns, and the form for readers without system turns."""

from __future__ import annotations

Message = dict[str, str]
"""One turn: `role` (`system`, `user` or `assistant`) and `content`."""


def without_system(turns: list[Message]) -> list[Message]:
    """The same turns with the system turn, if there is one, before the question."""
    if turns[0]["role"] != "system":
        return turns
    told, question, *rest = turns
    return [{"role": "user", "content": f"{told['content']}\n\n{question['content']}"}, *rest]
