"""Cases -> the JSONL that RewardBench reads, for reward models that ship their own code.

RewardBench takes the whole conversation from `chosen` and `rejected`, reads turns by position and has no system
turn: so the persona comes before the question, and both contain every turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..engine.conversation import without_system
from .cases import PersonaCases
from .conversations import SIDES, check, conversation
from .prompts import Template

NOTICE = "{} test data. Do not train on it: benchmark data must never be in training corpora."
"""In every row, so that a row that leaks into a corpus can be found."""


def rewardbench(cases: PersonaCases, template: Template) -> Iterator[dict[str, Any]]:
    """One row per case.

    Yields:
        prompt: the turns before the response.
        chosen, rejected: the same turns, and the response.
        split, notice: that this is test data.
        id, cell, user_id, digest: of the case, see `PersonaCase`.
    """
    check(template)
    named = cases.named_set
    notice = NOTICE.format(named.name if named else "PersonaFeedback (arXiv 2506.12915)")
    for case in cases:
        chosen, rejected = (without_system(conversation(case, template, side)) for side in SIDES)
        yield {
            "prompt": chosen[:-1],
            "chosen": chosen,
            "rejected": rejected,
            "split": "test",
            "notice": notice,
            "id": case.id,
            "cell": case.cell,
            "user_id": case.user_id,
            "digest": case.digest,
        }
