"""Judges of four responses, in both harnesses: they answer from the prompt, or from the case and the order alone."""

from __future__ import annotations

import hashlib

from personafeedback_tasks.pairwise.baselines import judges
from support.models import FOUR, register

REPLIES = (
    "{right}", "Answer: {right}", "My choice:\n{right}", "**{other}**", "A", "D", "", "I cannot help with that.", "A or B.",
    "<think>Perhaps {other}</think>{right}",
)  # fmt: skip


def noisy(case_id: str, call: str) -> str:
    """Right, wrong, biased and unreadable replies; which one depends on case and order alone."""
    number = int(hashlib.sha256(f"{case_id} {call}".encode()).hexdigest(), 16)
    right = FOUR.right[call]
    other = FOUR.letters[(FOUR.letters.index(right) + 1 + number % 3) % 4]
    return REPLIES[number // 3 % len(REPLIES)].format(right=right, other=other)


def reply(judge: str, prompt: str, case_id: str, call: str) -> str:
    return noisy(case_id, call) if judge == "noisy" else judges(FOUR)[judge](prompt)


def likelihoods(judge: str, prompt: str, case_id: str, call: str) -> list[float]:
    """Highest for the letter that it would say."""
    said = reply(judge, prompt, case_id, call)
    return [-0.5 if letter == said else -2.0 for letter in FOUR.letters]


register("four", reply, likelihoods)
