"""Keys of a persona that look like misspellings of a known one. Nothing is corrected: the prompt shows them as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

KNOWN_KEYS: dict[str, tuple[str, ...]] = {
    "": ("Name", "Demographics", "Personality", "Preference", "Bias", "Unique_Quirks"),
    "Demographics": ("Age", "Gender", "Nationality", "Language", "Career_Information"),
    "Personality": (
        "Extraversion_or_Introversion",
        "Sensing_or_Intuition",
        "Thinking_or_Feeling",
        "Judging_or_Perceiving",
        "Values_and_Interests",
    ),
    "Preference": ("Local_Life", "Travel", "Social", "Productivity", "Content_Interests"),
    "Preference.Local_Life": ("Food_Drinks", "Entertainment", "Shopping", "Entertainment_Shopping", "Daily_Outings"),
    "Preference.Travel": ("Business_Trips", "Leisure_Travel"),
    "Preference.Productivity": ("Study_Work", "Fitness"),
}
"""Parent -> the keys that personas have under it. Keys below any other parent are free."""

CUTOFF = 0.8
"""From this similarity on (difflib's ratio, upper and lower case alike) an unknown key is taken for a misspelling.

One letter left out, doubled or replaced leaves a ratio of at least 1 - 1/n for a key of n letters: 0.8 from five letters
on. Two keys of one parent that differ on purpose come no closer than 0.74 (Entertainment, Entertainment_Shopping)."""


@dataclass(frozen=True)
class PersonaKey:
    """A key that looks like a misspelling.

    Attributes:
        found: as the personas have it, with its parents: `Personality.Extraversion_or_Intuition`.
        known: the key it is taken for, likewise.
        users: who has it, sorted.
    """

    found: str
    known: str
    users: tuple[str, ...]


def misspelled_keys(profile: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The keys of one profile that look like misspellings of a known key of the same parent: (found, known)."""
    yield from _misspelled(profile, "", "")


def _misspelled(value: object, path: str, parent: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping) or parent not in KNOWN_KEYS:
        return
    folded = {key.lower(): key for key in KNOWN_KEYS[parent]}
    for key, item in value.items():
        known = key
        if key not in KNOWN_KEYS[parent]:
            close = get_close_matches(key.lower(), folded, n=1, cutoff=CUTOFF)
            if close:
                known = folded[close[0]]
                yield _join(path, key), _join(parent, known)
        yield from _misspelled(item, _join(path, key), _join(parent, known))


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
