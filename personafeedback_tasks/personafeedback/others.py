"""Assignment of other users' personas under `other_persona` and `similar_persona`: same language, no near twin.

Near twins share over half of their statements: the same value, or over half of its terms. General has one such pair.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from ..common.errors import DataError, require
from ..common.records import short
from ..core.cases import digest_of
from .persona import Persona

SEED = 1
"""Another number gives everybody another persona."""

MOST_SHARED = 0.5
"""Near twins share more than this share of one's statements. Of the 10,731 pairs in the General half one does (14 of
27); the next shares 11 of 27, the median pair 4."""


@dataclass(frozen=True)
class Others:
    """The users of a release, and whose persona each of them gets."""

    root: Path
    personas: Mapping[str, Persona]  # by user id, of all users, asked or not
    similar: bool = False  # whether each gets a similar user's; else chance decides

    @cached_property
    def given(self) -> dict[str, str]:
        """User id -> id of the user whose persona this one gets. Who is asked and the order of files change nothing."""
        try:
            return assign(self.personas.values(), self.similar)
        except DataError as error:
            raise DataError(f"{self.root / 'persona'}: {error}") from error

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of who gets whose persona and of those personas: the cases' own digests lack them."""
        return digest_of([(user, other, self.personas[other].text) for user, other in sorted(self.given.items())])

    def of(self, user_id: str) -> Persona:
        """The persona that a user gets."""
        if user_id not in self.given:
            raise DataError(
                f"{self.root / 'persona'}: found no file named {short(user_id)}.json in exactly this spelling, "
                "expected one. Rename the file."
            )
        return self.personas[self.given[user_id]]


def assign(personas: Collection[Persona], similar: bool = False) -> dict[str, str]:
    """User id -> id of another user of the same language who is no near twin; each is used once where possible.

    Args:
        similar: each must be used once, so that the sum of the Jaccard similarities of the users' terms is the highest.

    Raises:
        DataError: there is no such assignment.
        ModuleNotFoundError: scipy is not installed, which `similar` needs.
    """
    given: dict[str, str] = {}
    in_order = sorted(personas, key=lambda persona: (persona.language, persona.user_id))
    for _, users in itertools.groupby(in_order, key=lambda persona: persona.language):
        alike = list(users)
        given |= _most_similar(alike) if similar else _exchange(alike)
    return given


def _most_similar(users: Sequence[Persona]) -> dict[str, str]:
    require("scipy", extra="report")
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    similarity = np.full((len(users), len(users)), -np.inf)
    for one, another in itertools.combinations(range(len(users)), 2):
        if not _near_twins(users[one], users[another]):
            known, also = users[one].terms, users[another].terms
            similarity[one, another] = similarity[another, one] = len(known & also) / len(known | also)
    try:
        rows, columns = linear_sum_assignment(similarity, maximize=True)
    except ValueError as error:  # it says "infeasible"
        raise DataError(
            f"found no way to give each of the {len(users)} users whose language is {users[0].language} the persona "
            "of another one under setting=similar_persona, each once, near twins left out. Use setting=other_persona "
            "or no_persona as the control, or add personas."
        ) from error
    return {users[row].user_id: users[column].user_id for row, column in zip(rows, columns, strict=True)}


def _exchange(users: Sequence[Persona]) -> dict[str, str]:
    # as many personas as possible are used: a maximum matching by augmenting paths
    persona_of = {user.user_id: user for user in users}

    @cache
    def drawn(user: str) -> list[str]:
        return sorted(
            persona_of.keys() - {user}, key=lambda other: hashlib.sha256(f"{SEED}\0{user}\0{other}".encode()).digest()
        )

    def fitting(user: str) -> Iterator[str]:  # compared one by one: most users take one of the first
        return (other for other in drawn(user) if not _near_twins(persona_of[user], persona_of[other]))

    given: dict[str, str] = {}
    holder: dict[str, str] = {}
    for user in persona_of:
        wanted_by: dict[str, str] = {}
        queue = [user]
        free = None
        for seeker in queue:  # it grows: whoever holds a wanted persona may take another one instead
            for other in fitting(seeker):
                if other in wanted_by:
                    continue
                wanted_by[other] = seeker
                if other not in holder:
                    free = other
                    break
                queue.append(holder[other])
            if free is not None:
                break
        # The free one goes to its seeker, that one's to its seeker, and so on to the user who had none.
        while free is not None:
            taker = wanted_by[free]
            freed = given.get(taker)
            given[taker], holder[free] = free, taker
            free = freed
    for user in sorted(persona_of.keys() - given.keys()):  # every persona that fits is used already
        first = next(fitting(user), None)
        if first is None:
            raise DataError(
                f"found no persona to show in place of that of user_id {short(user)} under setting=other_persona, "
                f"expected one of another user of the same language ({persona_of[user].language}) who is no near "
                "twin. Use setting=no_persona as the control, or add personas."
            )
        given[user] = first
    return given


def _near_twins(one: Persona, another: Persona) -> bool:
    return max(_shared(one, another), _shared(another, one)) > MOST_SHARED


def _shared(one: Persona, another: Persona) -> float:
    # share of one's statements that another makes as well
    shared = 0
    for text, terms in one.statements.items():
        shared += text in another.statements or 2 * len(terms & another.terms) > len(terms)
    return shared / len(one.statements) if one.statements else 1.0
