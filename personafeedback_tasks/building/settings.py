"""`build.yaml`: what a team decides about its set. Strict, and small: all that a step needs and nobody else knows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..common import strict_yaml
from ..common.errors import DataError, OptionError
from ..common.strict_json import short
from ..common.strict_yaml import Scalar
from ..engine.benchmark import passing_for
from ..personafeedback.manifest import LONGEST_NAME, UNKNOWN, is_line

FILE = "build.yaml"

LANGUAGE = re.compile("[a-z]{2,3}")
"""Without a region: checks and prompts know `zh`, not `zh-CN`."""

LANGUAGES = "a language code of two or three lower-case letters, such as zh or de"


def check_language(language: str | None) -> None:
    """Raise OptionError if what --language says is no code. None is fine."""
    if language is not None and not LANGUAGE.fullmatch(language):
        raise OptionError(f"--language must be {LANGUAGES}, got {short(language)}.")


def check_lines(name: str | None, licence: str | None = None) -> None:
    """Raise OptionError if what --name or --licence says could not be in build.yaml. None is fine."""
    for option, value in (("--name", name), ("--licence", licence)):
        if value is not None and not is_line(value, LONGEST_NAME):
            raise OptionError(
                f"{option} must be one printable line of 1 to {LONGEST_NAME} characters, got {short(value)}."
            )
    if name is not None and (known := passing_for(name)):
        raise OptionError(
            f"--name must not pass for the benchmark's own data, {known}, got {short(name)}. Choose another name for the set."
        )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a build.

    Attributes:
        name: of the set, for set.json.
        licence: of the texts.
        language: of the prompts and of every text: an ISO 639 code, see LANGUAGE.
        seed: of every random choice.
        personas: how many to write from the seeds.
        specific, general: questions for each person.
        test: share of the persons whose pairs people vote on; the others are for training.
        masked: share of a persona's fields that the masked strategy hides.
        annotators: votes to each pair.
        medium, hard: least share of agreeing votes of these tiers.
    """

    name: str = "our set"
    licence: str = UNKNOWN
    language: str = "en"
    seed: int = 0
    personas: int = 20
    specific: int = 5
    general: int = 0
    test: Fraction = Fraction(1)
    masked: Fraction = Fraction(4, 5)
    annotators: int = 9
    medium: Fraction = Fraction(8, 9)
    hard: Fraction = Fraction(6, 9)

    @classmethod
    def load(cls, path: Path) -> Settings:
        """Those of a file; what it leaves out is as above.

        Raises:
            DataError: it cannot be read, or has a key or a value that does not exist.
        """
        try:
            given = strict_yaml.load(path)
        except OSError as error:
            raise DataError(
                f"{path}: could not be read ({error}). Start a build: personafeedback build init DIR"
            ) from error
        known = {one.name: one for one in fields(cls)}
        for name, found in given.items():
            if name not in known:
                raise DataError(
                    f"{found.where}: found the key {short(name)}, expected only {', '.join(known)}. Fix it."
                )
        return cls(**{name: _value(name, found, type(known[name].default)) for name, found in given.items()})


_RANGES: Mapping[str, tuple[int, int]] = {
    "seed": (0, 10**12), "personas": (1, 100_000), "specific": (0, 1_000), "general": (0, 1_000), "annotators": (1, 1_000),
}  # fmt: skip


def _value(name: str, found: Scalar, kind: type) -> Any:
    value = found.value
    if name == "language":
        if isinstance(value, str) and LANGUAGE.fullmatch(value):
            return value
        expected = LANGUAGES
    elif kind is str:
        known = passing_for(str(value)) if name == "name" else ""
        if is_line(value, LONGEST_NAME) and not known:
            return value
        expected = f"one line of 1 to {LONGEST_NAME} characters" + ("" if isinstance(value, str) else ", in quotes")
        if known:
            expected = f"a name that does not pass for the benchmark's own data, {known}"
    elif kind is int:
        least, most = _RANGES[name]
        if type(value) is int and least <= value <= most:
            return value
        expected = f"a whole number from {least} to {most:,}"
    else:
        share = _share(value)
        if share is not None and 0 <= share <= 1 and (name not in ("medium", "hard") or share > Fraction(1, 2)):
            return share
        expected = (
            "a share such as 8/9 or 0.8, from 0 to 1"
            if name not in ("medium", "hard")
            else "a share above 1/2, up to 1"
        )
    raise DataError(f"{found.where}: found {name} = {found.shown}, expected {expected}. Fix it.")


_SHARE = re.compile("[0-9]{1,9}/[0-9]{1,9}|[01]?[.]?[0-9]{1,15}")


def _share(value: object) -> Fraction | None:
    if (isinstance(value, str) and not _SHARE.fullmatch(value)) or isinstance(value, bool) or value is None:
        return None
    try:
        return Fraction(str(value))
    except ZeroDivisionError:
        return None
