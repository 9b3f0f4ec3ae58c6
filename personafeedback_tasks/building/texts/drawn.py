"""Random choices of a build: each from its own seed, so that none depends on how many were made before it."""

from __future__ import annotations

import random

from ...personafeedback.persona import Persona
from ..settings import Settings


def generator(settings: Settings, what: str, name: str) -> random.Random:
    """The source of the choices of one kind about one thing."""
    return random.Random(f"{settings.seed}:{what}:{name}")


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
