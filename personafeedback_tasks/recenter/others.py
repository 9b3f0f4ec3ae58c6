"""What the control `other_user` shows in place of each attribute: something that is known of somebody else.

A model that still finds it relevant selects without a reason. Users stand in a seeded order and each gets the attributes of the
next one, without those that are known of both. Who gets whose depends on all rows that can be asked, whatever `--limit` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from ..common.errors import DataError
from ..engine.cases import digest_of
from .rows import Relevance, Response

SEED = 1
"""Another number gives everybody another user."""

A = TypeVar("A", Relevance, Response)
"""The stages whose prompts show one attribute."""


def attributes_of_others(rows: Sequence[A]) -> dict[str, str]:
    """Row id -> an attribute of another user. The rows of one user and prompt get different ones while there are any.

    Raises:
        DataError: everything that is known of anybody else is known of a user, too.
    """
    known: dict[str, dict[str, None]] = {}
    for row in rows:
        known.setdefault(row.user_id, {})[row.attribute] = None
    given = _given(known)
    found: dict[str, str] = {}
    for own in profiles(rows):
        user, prompt = own[0].user_id, own[0].prompt
        offered = sorted(given[user], key=lambda attribute: digest_of((SEED, prompt, attribute)))
        found |= {row.id: offered[place % len(offered)] for place, row in enumerate(own)}
    return found


def profiles(rows: Iterable[A]) -> list[list[A]]:
    """The rows of each user and prompt together, in a seeded order that tells nothing of people's judgment; first come, first served."""
    together: dict[tuple[str, str], list[A]] = {}
    for row in rows:
        together.setdefault((row.user_id, row.prompt), []).append(row)
    return [
        sorted(own, key=lambda row: (digest_of((SEED, row.attribute, row.id)), row.id)) for own in together.values()
    ]


def _given(known: Mapping[str, Mapping[str, None]]) -> dict[str, list[str]]:
    """User -> attributes of the next user who has other ones."""
    order = sorted(known, key=lambda user: digest_of((SEED, user)))
    found = {}
    for place, user in enumerate(order):
        following = (order[(place + step) % len(order)] for step in range(1, len(order)))
        offers = ([attribute for attribute in known[other] if attribute not in known[user]] for other in following)
        found[user] = next((offer for offer in offers if offer), [])
        if not found[user]:
            raise DataError(
                f"control=other_user: found no other user with an attribute that {user} does not have (users: {len(order):,}), "
                "expected one. Leave the control out, or add rows of other users."
            )
    return found
