"""names.csv: where personas may be from, and what people there are called. Without it, names and countries are up to the model."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...common import tables
from ...common.errors import DataError
from ...common.text import IDEOGRAPHS
from ..settings import Settings
from .drawn import generator
from .lives import stated
from .seeds import NAMES, share_in

_COLUMNS = ("country", "share", "female", "male", "family")
_FEMALE = re.compile(r"\b(?:f|female|woman|she)\b|女", re.IGNORECASE)
_MALE = re.compile(r"\b(?:m|male|man|he)\b|男", re.IGNORECASE)
_INITIALS = "ABCDEFGHIJKLMNOPRSTVWYZ"
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")


class Country(NamedTuple):
    """A country, how often it is drawn in relation to the others, and names that are common there."""

    country: str
    share: float
    female: tuple[str, ...]
    male: tuple[str, ...]
    family: tuple[str, ...]


def countries(root: Path) -> list[Country]:
    """The countries of a build; none without a file. Raises DataError: a line lacks something, or its share is no number above 0."""
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
    """A name and its country for a persona; initials alone where its seed states either, or there are no countries.

    Args:
        taken: names and initials of other personas. They are not drawn again unless nearly all are taken.
    """
    known = stated(seed)
    drawn, gender = generator(settings, "home", user), str(known.get("gender", ""))
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
