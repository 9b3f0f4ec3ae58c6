"""Scripted judges: what a model that knows the data would say. One definition for both harnesses."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable

from personafeedback_tasks.pairwise.orders import TWO

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
    "They like it short.\n\nAnswer: {gold}",
    "<think>Perhaps {gold}",
)

REASONED = (
    "Helpfulness.\nWinner: {other}\nPersonalization.\nWinner: {gold}\n\nAnswer: {gold}",
    "有用性。\n结论：{other}\n个性化。\n结论：{gold}\n答案：{gold}",
    "Overall: A is more detailed, B is more personal.\n\nAnswer: {gold}",
    "Answer: {other}\nWait, they like it short.\nAnswer: {gold}",
    'She is 6\' 2" tall.\n"Answer: {other}"',
    "A says `walk.\n**{gold}**",
    "Response A is better. Now personalization: the user prefers short replies and",
    "回答A更好。\n接下来看个性化，这位用户",
    "",
)


def gold(case_id: str, order: str) -> str:
    return TWO.right[order]


def anti_gold(case_id: str, order: str) -> str:
    return OTHER[TWO.right[order]]


def always_first(case_id: str, order: str) -> str:
    return "A"


def readable(case_id: str, order: str) -> str:
    """Right, wrong and biased replies, all of which can be read."""
    return _one_of(("{gold}", "Answer: {gold}", "I choose {gold}.", "{other}", "A", "B"), case_id, order)


def silent(case_id: str, order: str) -> str:
    return ""


def mixed(case_id: str, order: str) -> str:
    """Right, wrong, biased and unreadable replies; which one depends on case and order alone."""
    return _one_of(MIXTURE, case_id, order)


def reasoned(case_id: str, order: str) -> str:
    """The same of replies that reason first: all but the last three end with their answer."""
    return _one_of(REASONED, case_id, order)


def in_passing(case_id: str, order: str) -> str:
    """Says which one it prefers, and goes on."""
    return f"I'd go with {TWO.right[order]}. The user is a quiet person who"


def named(case_id: str, order: str) -> str:
    """Names its answer first, and goes on."""
    return f"{TWO.right[order]}\n\nThe user is a quiet person who"


def chance(*about: object) -> float:
    """A number in [0, 1) that what it is about decides."""
    return int(hashlib.sha256(" ".join(map(str, about)).encode()).hexdigest()[:8], 16) / 16**8


def _one_of(replies: tuple[str, ...], case_id: str, order: str) -> str:
    number = int(hashlib.sha256(f"{case_id} {order}".encode()).hexdigest(), 16)
    letter = TWO.right[order]
    return replies[number % len(replies)].format(gold=letter, other=OTHER[letter])


JUDGES: dict[str, Callable[[str, str], str]] = {
    judge.__name__: judge
    for judge in (gold, anti_gold, always_first, readable, silent, mixed, reasoned, in_passing, named)
}


KNOWN = {
    "gold": {"acc": 1, "acc_both": 1, "consistency": 1, "first_rate": 0.5, "invalid": 0},
    "anti_gold": {"acc": 0, "acc_both": 0, "consistency": 1, "first_rate": 0.5, "invalid": 0},
    "always_first": {"acc": 0.5, "acc_both": 0, "consistency": 0, "first_rate": 1, "invalid": 0},
    "silent": {"acc": 0, "acc_both": 0, "consistency": math.nan, "first_rate": math.nan, "invalid": 1},
}
"""Judge -> its scores, whatever the cases."""

METRICS = tuple(KNOWN["gold"])
"""What harnesses print of the answers of a case with two responses."""


def who_asks(cases: list, setting: str = "persona") -> dict[str, tuple[str, str]]:
    """Prompt -> (case id, order), for servers, which see nothing but the prompt."""
    from personafeedback_tasks.personafeedback import prompts

    return {
        prompts.build(case, prompts.Template(setting=setting), order): (case.id, order)
        for case in cases
        for order in TWO.names
    }
