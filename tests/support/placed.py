"""A judge that prefers the first place by far. Its log-odds may hold knowledge all the same; its replies hold next to none."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache

from personafeedback_tasks.core.benchmark import find
from support.models import orders_of, register

SETTINGS = ("persona", "other_persona", "no_persona")
LISTED = ",".join(SETTINGS)

KNOWN: Mapping[str, Mapping[str, float]] = {
    "small": {"persona": 31 / 48, "other_persona": 30 / 48, "no_persona": 24 / 48},  # as SmolLM2-135M on the sample
    "personal": {"persona": 44 / 48, "other_persona": 20 / 48, "no_persona": 24 / 48},
}
"""Judge -> setting -> the share of a benchmark's sample in which its log-odds prefer the right response by a little."""

PLACE, WORTH = 4.0, 0.5
"""What the first place adds to the log-odds of its response, and knowledge to those of another one."""

OTHERWISE = 0.03
"""Share of the calls in which the judge `nearly` replies with another letter than the first."""


def drawn(text: str) -> float:
    """A number in [0, 1) that a text decides."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) / 2**256


@cache
def ranks() -> dict[str, float]:
    """Case of a sample -> its place among all of that sample in a drawn order, as a share."""
    found: dict[str, float] = {}
    for name in ("personafeedback", "prefeval"):
        benchmark = find(name)
        options = benchmark.options.read({"data": "sample"})
        ids = sorted((case.id for case in benchmark.load(options, {})), key=drawn)
        found |= {case_id: place / len(ids) for place, case_id in enumerate(ids)}
    return found


def likelihoods(judge: str, prompt: str, case_id: str, call: str) -> list[float]:
    """The log-likelihood of each letter.

    Args:
        call: as `Method.asked` names it.
    """
    setting, _, order = call.rpartition(" ")
    orders = orders_of(call)
    right, count = orders.letters.index(orders.right[order]), len(orders.letters)
    knows = ranks().get(case_id, drawn(case_id)) < KNOWN[judge][setting or SETTINGS[0]]
    values = [PLACE - 10, *[-10.0] * (count - 1)]
    values[right if knows else (right + 1) % count] += WORTH
    return values


def reply(judge: str, prompt: str, case_id: str, call: str) -> str:
    """`A`; of the judge `nearly`, sometimes another letter."""
    return orders_of(call).letters[-1] if judge == "nearly" and drawn(f"{case_id} {call}") < OTHERWISE else "A"


register("placed", reply, likelihoods)
