"""Random traits of a persona: age, work, life stage, character, and a name and country of names.csv, if any. Those of its seed are kept.

Age limits work and life stage. Where a seed states work or life stage without an age, none of the three is drawn: it could contradict.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ...common import tables
from ...common.errors import DataError
from ...common.records import leaves
from ...common.text import IDEOGRAPHS
from ..settings import Settings
from .seeds import NAMES, share_in

_TABLES = yaml.safe_load(Path(__file__).with_name("lives.yaml").read_text(encoding="utf-8"))
_AGES, _FIELDS, _KEYS = _TABLES["ages"], _TABLES["fields"], _TABLES["keys"]

_TYPES = ("EI", "SN", "TF", "JP")


class _Stretch(NamedTuple):
    # A part of life, and the ages at which it is ordinary.
    what: str
    youngest: int
    oldest: int
    with_family: bool = False


_WORK = [_Stretch(**stretch) for stretch in _TABLES["work"]]
_STAGES = [_Stretch(**stretch) for stretch in _TABLES["stages"]]

_WORDS = re.compile(r"[A-Z]?[a-zà-ÿ]+|[A-Z]+(?![a-z])")
_YEARS = re.compile(r"\b(\d{1,3})[- ]years?[- ]old\b|(\d{1,3}) ?岁")


def stated(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Trait of _KEYS -> its value in a profile, under the first key that is about it, at any depth."""
    found: dict[str, Any] = {}
    for key, value in _pairs(profile):
        parts = {part.lower() for part in _WORDS.findall(key)}
        for trait, words in _KEYS.items():
            if any(word in parts or (not word.isascii() and word in key) for word in words):
                found.setdefault(trait, value)
    if "age" not in found:
        texts = (text for text in leaves(profile) if isinstance(text, str))
        if years := next(filter(None, map(_YEARS.search, texts)), None):
            found["age"] = years[1] or years[2]
    return found


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        if inner not in (None, "", [], {}):
            yield key, inner
        yield from _pairs(inner)


def draw_life(settings: Settings, user: str, seed: Mapping[str, Any]) -> dict[str, str]:
    """Trait -> drawn value, for traits that the seed leaves open."""
    drawn, known = settings.generator("traits", user), stated(seed)
    low, high = drawn.choice(_AGES)
    age: int | None = drawn.randint(low, high)
    letters = "".join(drawn.choice(two) for two in _TYPES)
    traits: dict[str, str] = {}
    if "age" in known:
        number = re.search(r"\d+", str(known["age"]))
        age = int(number[0]) if number and _AGES[0][0] <= int(number[0]) else None
    elif known.keys() & {"work", "life stage"}:
        age = None
    else:
        traits["age"] = str(age)
    if age is not None:
        stage = drawn.choice(_possible(_STAGES, age))
        work = drawn.choice([work for work in _possible(_WORK, age) if stage.with_family or not work.with_family])
        traits["work"] = work.what.format(drawn.choice(_FIELDS))
        traits["life stage"] = stage.what
    traits["personality (MBTI)"] = letters
    return {trait: value for trait, value in traits.items() if trait not in known}


def _possible(stretches: list[_Stretch], age: int) -> list[_Stretch]:
    age = min(age, _AGES[-1][1])
    return [stretch for stretch in stretches if stretch.youngest <= age <= stretch.oldest]


_COLUMNS = ("country", "share", "female", "male", "family")
_FEMALE = re.compile(r"\b(?:f|female|woman|she)\b|女", re.IGNORECASE)
_MALE = re.compile(r"\b(?:m|male|man|he)\b|男", re.IGNORECASE)
_INITIALS = "ABCDEFGHIJKLMNOPRSTVWYZ"
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")


class Country(NamedTuple):
    """A country of names.csv, its share relative to the others, and common names."""

    country: str
    share: float
    female: tuple[str, ...]
    male: tuple[str, ...]
    family: tuple[str, ...]


def countries(root: Path) -> list[Country]:
    """The countries of a build; empty without names.csv. Raises DataError for a broken line."""
    path = root / NAMES
    if not path.is_file():
        return []
    rows = []
    for where, row in tables.rows(path, _COLUMNS, _COLUMNS):
        names = {name: tuple(filter(None, map(str.strip, row[name].split("|")))) for name in _COLUMNS[2:]}
        if empty := [name for name, value in {"country": row["country"], **names}.items() if not value]:
            raise DataError(
                f"{where}: found nothing under {empty[0]}, expected a country and names with | between them. Fix it."
            )
        rows.append(Country(row["country"], share_in(row["share"], where), **names))
    return rows


def draw_home(
    settings: Settings, user: str, seed: Mapping[str, Any], choices: list[Country], taken: set[str]
) -> dict[str, str]:
    """A name and country for a persona; initials alone where its seed states either, or there are no countries.

    Args:
        taken: names and initials of other personas, not drawn again unless nearly all are taken.
    """
    known = stated(seed)
    drawn, gender = settings.generator("home", user), str(known.get("gender", ""))
    home: dict[str, str] = {}
    for _ in range(100):
        if not choices or known.keys() & {"name", "country"}:
            home = {"initials of the name": f"{drawn.choice(_INITIALS)}. {drawn.choice(_INITIALS)}."}
        else:
            (country,) = drawn.choices(choices, [choice.share for choice in choices])
            home = {"name": _name(drawn, country, gender), "country": country.country}
        if next(iter(home.values())) not in taken:
            break
    return home


def _name(drawn: random.Random, country: Country, gender: str) -> str:
    lists = [country.female] * (not _MALE.search(gender)) + [country.male] * (not _FEMALE.search(gender))
    given, family = drawn.choice(drawn.choice(lists or [country.female, country.male])), drawn.choice(country.family)
    return f"{family}{given}" if _IDEOGRAPH.search(family) else f"{given} {family}"
