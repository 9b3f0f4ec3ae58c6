"""Attributes that many users share: age band, gender, first language, occupation group, letters of the MBTI type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..common.text import word_lists
from .persona import Persona

OTHER = "other"

_AGES = ((25, "under 25"), (30, "25 to 29"), (35, "30 to 34"), (50, "35 to 49"))
_OLDEST = "50 and over"

_GENDERS = {"女": "women", "男": "men", "female": "women", "male": "men"}

_LANGUAGES = {"中文": "Chinese", "英语": "English", "英文": "English", "chinese": "Chinese", "english": "English"}

_LETTERS = {"Extraversion": "EI", "Sensing": "SN", "Thinking": "TF", "Judging": "JP"}
"""The beginning of a key of `Personality` (some are misspelt further on) -> its letters."""

_OCCUPATIONS = word_lists(Path(__file__).with_name("occupations.txt"))
"""Group of occupations -> words of it."""


def attributes(persona: Persona) -> dict[str, str]:
    """Attribute -> its value for this user. What a profile lacks, or has in another form, is left out."""
    demographics, personality = _part(persona, "Demographics"), _part(persona, "Personality")
    values_of_user = {
        "age": _age(demographics.get("Age")),
        "gender": _GENDERS.get(str(demographics.get("Gender")).lower()),
        "first language": _language(demographics.get("Language")),
        "occupation": _occupation(demographics.get("Career_Information")),
    }
    for beginning, letters in _LETTERS.items():
        values = [value for key, value in personality.items() if key.startswith(beginning)]
        values_of_user[f"MBTI {letters[0]}/{letters[1]}"] = next(
            (value for value in values if value in tuple(letters)), None
        )
    return {name: value for name, value in values_of_user.items() if value}


def _part(persona: Persona, name: str) -> Mapping[str, Any]:
    part = persona.profile.get(name)
    return part if isinstance(part, Mapping) else {}


def _age(value: object) -> str | None:
    if not isinstance(value, int):
        return None
    return next((band for below, band in _AGES if value < below), _OLDEST)


def _language(value: object) -> str | None:
    first = value[0] if isinstance(value, list) and value else value
    return _LANGUAGES.get(first.lower(), OTHER) if isinstance(first, str) else None


def _occupation(value: object) -> str | None:
    # the first part that has a word of the table decides: later parts describe the work
    if not isinstance(value, str):
        return None
    for part in re.split("[，,；;。（(]", value):
        for group, words in _OCCUPATIONS.items():
            if any(word in part for word in words):
                return group
    return OTHER
