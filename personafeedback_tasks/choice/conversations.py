"""A case -> the conversations that a reward model scores: what is told about the user, the question, one response.

A reward model judges one response at a time, so no text has a question of ours or a letter. What the model is
told is a system turn; a chat template or a reader without system turns gets it before the question.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from ..engine.conversation import Message


def turns(told: str, question: str, response: str) -> list[Message]:
    """The turns of one conversation.

    Args:
        told: about the user; empty for nothing.
    """
    system: list[Message] = [{"role": "system", "content": told}] if told else []
    return [*system, {"role": "user", "content": question}, {"role": "assistant", "content": response}]


def fingerprint(conversations: Sequence[Sequence[Message]]) -> str:
    """A SHA-256 (12 hex digits) that changes with the fixed text and the layout of these conversations, of stand-ins for cases."""
    return f"conversations-{hashlib.sha256(json.dumps(conversations).encode()).hexdigest()[:12]}"
