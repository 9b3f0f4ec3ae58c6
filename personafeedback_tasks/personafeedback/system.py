"""System messages about a user for any task: a profile, another user's, or as many characters about nobody."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from ..common.errors import DataError, OptionError, choose
from ..common.records import short
from ..core.system import NEUTRAL, OPENING
from .others import Others
from .persona import Persona
from .release import locate

SETTINGS = ("persona", "no_persona", "other_persona", "padding")


def neutral(length: int, language: str) -> str:
    """That many characters of text that concerns nobody."""
    text = NEUTRAL[language]
    return (text * (length // len(text) + 1))[:length]


class Told(NamedTuple):
    """The system message of a sample; `user` is whose sample it is, even if the message is about another one."""

    user: str
    text: str


def message(persona: Persona) -> str:
    """The system message about a user, in the language of the persona's values."""
    return f"{OPENING[persona.language]}\n\n<persona>\n{persona.text}\n</persona>"


def told_by(
    setting: str, user: str | None = None, data: str | os.PathLike[str] | None = None
) -> Callable[[object, Mapping[str, Any]], Told | None]:
    """The function of (id of a sample, its metadata) that gives the sample's message; None under no_persona.

    Args:
        user: id or unique name of the user of all samples. With None a sample has the user that its metadata name
            (`user_id`), or one drawn by its id, which other_persona refuses with OptionError.

    Raises:
        OptionError: there is no such setting, or no such user.
        DataError: there are no personas.
    """
    choose("setting", setting, SETTINGS)
    others = locate(None if data is None else str(data)).others
    personas = others.personas
    if not personas:
        raise DataError(
            f"{others.root / 'persona'}: found no persona, expected persona/<user_id>.json. Pass other data."
        )
    of_all = None if user is None else _user(str(user), others)  # Inspect reads 17 as a number
    users = sorted(personas)

    def told(sample: object, metadata: Mapping[str, Any]) -> Told | None:
        if setting == "no_persona":
            return None
        own = of_all or str(metadata.get("user_id"))
        if own not in personas:
            if setting == "other_persona":
                raise OptionError(
                    "setting=other_persona needs the user whom a sample is about, but the metadata of sample "
                    f"{short(sample)} have no user_id of the data. Pass user=NAME."
                )
            own = users[int(hashlib.sha256(str(sample).encode()).hexdigest(), 16) % len(users)]
        persona = personas[own]
        if setting == "other_persona":
            return Told(persona.user_id, message(others.of(persona.user_id)))
        text = message(persona)
        return Told(persona.user_id, text if setting == "persona" else neutral(len(text), persona.language))

    return told


def _user(user: str, others: Others) -> str:
    # The id of a user that is named by id or by a name that nobody else has.
    if user in others.personas:
        return user
    named = [name for name, persona in others.personas.items() if persona.profile.get("Name") == user]
    if len(named) == 1:
        return named[0]
    near = get_close_matches(user, others.personas, n=3) or sorted(others.personas)[:3]
    found = f"{len(named)} users of that name" if named else "no such user"
    raise OptionError(
        f"user={short(user)}: found {found} in {others.root / 'persona'}, expected a user id, such as "
        f"{', '.join(near)}."
    )
