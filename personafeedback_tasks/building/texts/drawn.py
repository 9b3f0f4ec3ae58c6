"""Random choices of a build: each from its own seed, so that none depends on how many were made before it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate

from ...personafeedback.paper.tables import table
from ...personafeedback.persona import Persona
from ..settings import Settings

_GOLDEN = 0.6180339887498949


def generator(settings: Settings, what: str, name: str) -> random.Random:
    """The source of the choices of one kind about one thing."""
    return random.Random(f"{settings.seed}:{what}:{name}")


def scenarios(settings: Settings, user_id: str, count: int) -> list[str]:
    """The scenarios of a user's first questions, with the shares of Table 5 over the users.

    A user's points are spread over the shares by steps of the golden ratio: a few questions of one user are of several categories,
    and more questions leave the first ones as they are.
    """
    start, drawn = generator(settings, "scenarios", user_id).random(), list[str]()
    bounds = list(accumulate(shares().values()))
    for place in range(count):
        point = (start + place * _GOLDEN) % 1 * bounds[-1]
        in_category = list(_by_category().values())[next(at for at, bound in enumerate(bounds) if point < bound)]
        left = [scenario for scenario in in_category if scenario not in drawn] or in_category
        drawn.append(generator(settings, "scenario", f"{user_id}:{place}").choice(left))
    return drawn


@cache
def shares() -> Mapping[str, float]:
    """Category -> its share in Table 5, in percent. They sum to 99.96."""
    return {row.name: float(row.cells["percentage"]) for row in table("5").rows}


@cache
def _by_category() -> Mapping[str, Sequence[str]]:
    return {row.name: tuple(row.about["scenarios"]) for row in table("5").rows}


def masked(settings: Settings, persona: Persona) -> Persona:
    """A persona without a share of its fields: the same ones at every call, whatever else is asked.

    A field is a part that is no object. A part that has lost all its fields is hidden, too.
    """
    parts = persona.fields
    leaves = sorted(part for part in parts if not any(other.startswith(f"{part}.") for other in parts))
    hidden = set(generator(settings, "masked", persona.user_id).sample(leaves, round(settings.masked * len(leaves))))
    whole = {
        part for part in parts - set(leaves) if all(leaf in hidden for leaf in leaves if leaf.startswith(f"{part}."))
    }
    return persona.without(tuple(sorted(hidden | whole)))
