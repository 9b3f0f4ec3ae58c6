"""Scripted judges: what a model that knows the data would say. One definition for both harnesses."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from personafeedback_tasks.orders import CHOSEN_LETTER, ORDERS

OTHER = {"A": "B", "B": "A"}
MIXTURE = (
    "{gold}",
    "**{gold}**",
    "Answer: {gold}",
    "{other}",
    "A",
    "B",
    "",
    "I cannot help with that.",
    "Both are good.",
    "<think>A or B?</think>\n{gold}",
    "<think>Perhaps {gold}",
)


def gold(case_id: str, order: str) -> str:
    return CHOSEN_LETTER[order]


def anti_gold(case_id: str, order: str) -> str:
    return OTHER[CHOSEN_LETTER[order]]


def always_first(case_id: str, order: str) -> str:
    return "A"


def silent(case_id: str, order: str) -> str:
    return ""


def mixed(case_id: str, order: str) -> str:
    """Right, wrong, biased and unreadable replies; which one depends on case and order alone."""
    number = int(hashlib.sha256(f"{case_id} {order}".encode()).hexdigest(), 16)
    letter = CHOSEN_LETTER[order]
    return MIXTURE[number % len(MIXTURE)].format(gold=letter, other=OTHER[letter])


JUDGES: dict[str, Callable[[str, str], str]] = {
    judge.__name__: judge for judge in (gold, anti_gold, always_first, silent, mixed)
}


def who_asks(cases: list, setting: str = "persona") -> dict[str, tuple[str, str]]:
    """Prompt -> (case id, order), for servers, which see nothing but the prompt."""
    from personafeedback_tasks import prompts

    return {
        prompts.build(case, prompts.Template(setting=setting), order): (case.id, order)
        for case in cases
        for order in ORDERS
    }
