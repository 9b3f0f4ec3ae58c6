"""Conversations that a reward model scores: their turns, and the form for readers without system turns."""

from __future__ import annotations

from typing import Any

Message = dict[str, str]
"""One turn: `role` (`system`, `user` or `assistant`) and `content`."""


def has_system_turn(tokenizer: Any) -> bool:
    """Whether the chat template of a tokenizer of transformers writes a system turn: some refuse it, some leave it out."""
    turns = [
        {"role": role, "content": content}
        for role, content in (("system", "b6f1d3"), ("user", "a"), ("assistant", "b"))
    ]
    try:
        return "b6f1d3" in tokenizer.apply_chat_template(turns, tokenize=False)
    except Exception:  # each template has its own way to refuse what it does not know
        return False


def without_system(turns: list[Message]) -> list[Message]:
    """Turns with the system turn, if there is one, moved into the question."""
    if turns[0]["role"] != "system":
        return turns
    told, question, *rest = turns
    return [{"role": "user", "content": f"{told['content']}\n\n{question['content']}"}, *rest]
