"""The control `other_user`: each attribute is replaced by one of another user, so that to select it has no reason.

Users are in a seeded order; each gets attributes of the next user, without shared ones, whatever `--limit` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from ..common.errors import DataError
from ..core.cases import digest_of
from ..core.report import Control
from .data import Rows
from .rows import PromptRow

OTHER_USER = "other_user"
NO_CONTROL = "none"

SELECTED = "selected"
"""Of the values of a row: how far the model lets the attribute that it is shown matter, in [0, 1]."""

CONTROL = Control(
    option="control",
    value=OTHER_USER,
    gain="own minus others'",
    without="with attributes of another user",
    known="user's own attribute",
    others=(NO_CONTROL,),
    measure=SELECTED,
    people={NO_CONTROL: "own attributes", OTHER_USER: "another user's"},
)
"""How much more the model makes of the users' own attributes than of others'. People judged the own ones only, so that nothing
is right or wrong under the control."""

SEED = 1
"""Another number gives everybody another user."""

P = TypeVar("P", bound=PromptRow)


def under_control(rows: Rows[P], control: str) -> Rows[P]:
    """The rows with what the control shows, whatever they showed before."""
    others = attributes_of_others(rows.cases) if control == OTHER_USER else {}
    return replace(rows, cases=tuple(replace(row, other=others.get(row.id, "")) for row in rows))


def attributes_of_others(rows: Sequence[PromptRow]) -> dict[str, str]:
    """Row id -> an attribute of another user. The rows of one user and prompt get different ones while there are any.

    Raises:
        DataError: a user has every attribute that other users have.
    """
    known: dict[str, dict[str, None]] = {}
    for row in rows:
        known.setdefault(row.user_id, {})[row.attribute] = None
    offers = _offers(known)
    others: dict[str, str] = {}
    for profile in profiles(rows):
        user, prompt = profile[0].user_id, profile[0].prompt
        offered = sorted(offers[user], key=lambda attribute: digest_of((SEED, prompt, attribute)))
        others |= {row.id: offered[place % len(offered)] for place, row in enumerate(profile)}
    return others


def profiles(rows: Iterable[P]) -> list[list[P]]:
    """The rows of each user and prompt, in a seeded order that reveals nothing of people's judgments."""
    return [
        sorted(profile, key=lambda row: (digest_of((SEED, row.attribute, row.id)), row.id))
        for profile in by_prompt(rows)
    ]


def by_prompt(rows: Iterable[P]) -> list[list[P]]:
    """The rows of each user and prompt together, in order of appearance."""
    together: dict[tuple[str, str], list[P]] = {}
    for row in rows:
        together.setdefault((row.user_id, row.prompt), []).append(row)
    return list(together.values())


def _offers(known: Mapping[str, Mapping[str, None]]) -> dict[str, list[str]]:
    order = sorted(known, key=lambda user: digest_of((SEED, user)))
    offers = {}
    for place, user in enumerate(order):
        following = order[place + 1 :] + order[:place]
        candidates = ([attribute for attribute in known[other] if attribute not in known[user]] for other in following)
        offers[user] = next(filter(None, candidates), [])
        if not offers[user]:
            raise DataError(
                f"control=other_user: found no other user with an attribute that {user} does not have (users: {len(order):,}), "
                "expected one. Leave the control out, or add rows of other users."
            )
    return offers
