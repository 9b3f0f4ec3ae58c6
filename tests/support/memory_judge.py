"""A judge in both harnesses that answers from the prompt: right in 90 of 100 calls without a memory, yields to its user's in 40 of 100
of these, and to another user's in 10."""

from __future__ import annotations

from personafeedback_tasks.pairwise.orders import TWO, responses
from support.judges import chance
from support.models import register

RIGHT, YIELDS, DISTRACTED = 0.9, 0.4, 0.1
BOTH = "both orders"


def planted(case_id: str, order: str, told: str) -> bool:
    """Whether it picks the right answer. `told` is the setting."""
    right = chance("right", case_id, order) < RIGHT
    lost = {"persona": YIELDS, "other_persona": DISTRACTED}.get(told, 0)
    return right and chance(told, case_id, order) >= lost


def told_in(prompt: str) -> str:
    """The setting that a prompt was made under."""
    memory = prompt.partition("<memory>\n")[2].partition("\n</memory>")[0]
    if not memory:
        return "no_persona"
    # the user's own one quotes an answer of this case
    return "persona" if any(answer in memory for answer in responses(prompt, TWO)) else "other_persona"


def reply(judge: str, prompt: str, case_id: str, call: str) -> str:
    order = call.split()[-1]
    right = TWO.right[order]
    return right if planted(case_id, order, told_in(prompt)) else "BA"["AB".index(right)]


def likelihoods(judge: str, prompt: str, case_id: str, call: str) -> list[float]:
    """Of a model that always prefers A, and a little more or less so by what is planted in both orders."""
    more = 0.1 if planted(case_id, BOTH, told_in(prompt)) else -0.1
    return [-1.0 + more, -5.0] if TWO.right[call.split()[-1]] == "A" else [-1.0, -5.0 + more]


register("memory", reply, likelihoods)
