"""Planted judges of the sample, and a run of each with its controls."""

from __future__ import annotations

import random

from personafeedback_tasks.logs.run import Run
from support.sample_runs import GOLD, run_of

ANTI_GOLD = GOLD[::-1]

ORDER = random.Random(7).sample(range(48), 48)
"""The cases of the sample in a random order, of which planted judges miss some stretch."""


def missing(*places: int):
    """A judge that is wrong in the cases of ORDER from one place to another, and right elsewhere."""
    missed = set(ORDER[slice(*places)])
    return lambda index: ANTI_GOLD if index in missed else GOLD


MISSES = missing(0, 12)


def cut(share: float, rest=MISSES):
    """A thinking model whose replies had no end in this share of the cases."""
    return lambda index: ("truncated", "truncated") if index in ORDER[24 : 24 + round(48 * share)] else rest(index)


def first(index: int) -> tuple[str, str]:
    """A judge that picks the first response."""
    return "A", "A"


SETTINGS = ("persona", "other_persona", "no_persona")
KNOWER = (missing(0, 4), missing(0, 18), missing(2, 20))


def asked(judges, **fields) -> tuple[Run, dict[str, Run]]:
    """A run and its controls; judges under each of SETTINGS, None where that was not asked."""
    run, *controls = (
        judge and run_of(judge, signature={"setting": setting}, **fields)
        for setting, judge in zip(SETTINGS, judges, strict=True)
    )
    return run, {setting: control for setting, control in zip(SETTINGS[1:], controls, strict=True) if control}
