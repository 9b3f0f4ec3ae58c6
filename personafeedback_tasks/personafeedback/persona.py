"""A persona as text for a prompt, its language, and its file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..common.records import broken, leaves, load_json, short
from ..common.text import language_of
from ..pairwise.terms import overlap_terms
from . import memory


@dataclass(frozen=True)
class Persona:
    """One user of the release."""

    user_id: str  # names repeat across users
    profile: Mapping[str, Any] = field(repr=False)  # the file as parsed; key names vary between users
    memory_file: Path | None = field(default=None, repr=False, compare=False)  # only the setting `rag` reads it

    @cached_property
    def text(self) -> str:
        """The whole profile as indented lines; every key and value appears as written."""
        return "\n".join(_lines(self.profile))

    @cached_property
    def values(self) -> str:
        """Every string of the profile that is not a key, one after another."""
        return "\n".join(value for value in leaves(self.profile) if isinstance(value, str))

    @cached_property
    def statements(self) -> dict[str, frozenset[str]]:
        """Every value that is no object and no list, as text -> its terms."""
        texts = [value if isinstance(value, str) else json.dumps(value) for value in leaves(self.profile)]
        return {text: overlap_terms(text) for text in texts}

    @cached_property
    def terms(self) -> frozenset[str]:
        """The terms of all statements."""
        return frozenset().union(*self.statements.values())

    @cached_property
    def memory(self) -> tuple[str, ...]:
        """The pieces of this user's memory, read at first use. Raises DataError if there is none."""
        return memory.load(self.user_id, self.memory_file)

    @cached_property
    def language(self) -> str:
        """`zh` when Chinese characters outnumber Latin words in the values, else `en`.

        Decided once per user, so that all prompts of a user share their beginning: single cases mix languages.
        """
        return language_of(self.values)

    @cached_property
    def fields(self) -> frozenset[str]:
        """The names of all parts, with their parents: `Preference`, `Preference.Travel`."""
        return frozenset(_fields(self.profile))

    def without(self, hidden: tuple[str, ...]) -> Persona:
        """This persona without some of its parts. Parts that it does not have are ignored."""
        if hidden not in self._without:
            self._without[hidden] = Persona(self.user_id, _prune(self.profile, frozenset(hidden)), self.memory_file)
        return self._without[hidden]

    @cached_property
    def _without(self) -> dict[tuple[str, ...], Persona]:
        return {}


def _fields(profile: Mapping[str, Any], parent: str = "") -> Iterator[str]:
    for key, value in profile.items():
        yield parent + key
        if isinstance(value, Mapping):
            yield from _fields(value, f"{parent}{key}.")


def _prune(profile: Mapping[str, Any], hidden: frozenset[str], parent: str = "") -> dict[str, Any]:
    # a part whose own parts are all hidden goes, too: its bare name would still tell of them
    kept: dict[str, Any] = {}
    for key, value in profile.items():
        if parent + key in hidden:
            continue
        if isinstance(value, Mapping) and value:
            value = _prune(value, hidden, f"{parent}{key}.")
            if not value:
                continue
        kept[key] = value
    return kept


def _lines(value: Any, indent: str = "") -> Iterator[str]:
    items = value.items() if isinstance(value, Mapping) else ((None, item) for item in value)
    for key, item in items:
        label = f"{indent}-" if key is None else f"{indent}{key}:"
        if isinstance(item, (Mapping, list)) and item:
            yield label
            yield from _lines(item, indent + "  ")
        else:
            yield f"{label} {item if isinstance(item, str) else json.dumps(item)}"


def load_profile(path: Path) -> dict[str, Any]:
    """The profile in a persona's file, as parsed. Raises DataError if it is no JSON object."""
    profile = load_json(path, "one JSON object")
    if not isinstance(profile, dict) or not profile:
        raise broken(str(path), short(profile), "a non-empty JSON object")
    return profile
