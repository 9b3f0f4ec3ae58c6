"""`build.yaml`: a team's decisions about its set, and nothing that a step can find out. Strict."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..common.errors import DataError, OptionError
from ..common.records import settings, short
from ..personafeedback.manifest import LONGEST_NAME, UNKNOWN, is_line

FILE = "build.yaml"


class _Expected(ValueError):
    """Invalid value of a setting; the message says which are valid."""


def _line(value: str) -> str:
    if not is_line(value, LONGEST_NAME):
        raise _Expected(f"one printable line of 1 to {LONGEST_NAME} characters")
    return value


def _name(value: str) -> str:
    return _line(value)


def _language(value: str) -> str:
    if not re.fullmatch("[a-z]{2,3}", value):  # prompts and checks know zh, not zh-CN
        raise _Expected("a language code of two or three lower-case letters, such as zh or de")
    return value


def _number(least: int, most: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not re.fullmatch("[0-9]{1,13}", value) or not least <= int(value) <= most:
            raise _Expected(f"a whole number from {least} to {most:,}")
        return int(value)

    return read


def _word(*words: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in words:
            raise _Expected(" or ".join(words))
        return value

    return read


_SHARE = re.compile("[0-9]{1,9}/[0-9]{1,9}|[01]?[.]?[0-9]{1,15}")


def _fraction(value: str) -> Fraction | None:
    if not _SHARE.fullmatch(value):
        return None
    try:
        return Fraction(value)
    except ZeroDivisionError:
        return None


def _share(value: str) -> Fraction:
    share = _fraction(value)
    if share is None or not 0 <= share <= 1:
        raise _Expected("a share such as 8/9 or 0.8, from 0 to 1")
    return share


def _majority(value: str) -> Fraction:
    share = _fraction(value)
    if share is None or not Fraction(1, 2) < share <= 1:
        raise _Expected("a share above 1/2, up to 1")
    return share


def _setting(default: Any, read: Callable[[str], Any], comment: str) -> Any:
    # `read` parses and checks a value; `comment` is its line in build.yaml.
    return field(default=default, metadata={"read": read, "comment": comment})


_COUNT = _number(0, 1_000)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a build. build.yaml repeats what each decides."""

    name: str = _setting("our set", _name, "of the set, as every table and card shows it")
    license: str = _setting(UNKNOWN, _line, "of the texts: an SPDX id such as CC-BY-4.0")
    language: str = _setting("en", _language, "of every text: a code of two or three letters, such as zh or de")
    seed: int = _setting(0, _number(0, 10**12), "of every random choice")
    personas: int = _setting(
        20, _number(0, 100_000), "how many personas to write from seeds.jsonl; your own come on top"
    )
    specific: int = _setting(5, _COUNT, "questions to write for each person, from the scenarios of scenarios.csv")
    general: int = _setting(0, _COUNT, "questions to choose for each person from your pool.jsonl")
    test: Fraction = _setting(  # noqa: RUF009
        Fraction(1), _share, "share of the persons whose pairs people vote on; the others are for training"
    )
    masked: Fraction = _setting(Fraction(4, 5), _share, "share of a persona's fields that the masked strategy hides")  # noqa: RUF009
    words: int = _setting(
        160, _number(5, 5_000), "of an answer, about: each question has a target from 0.6 to 1.7 times as long"
    )
    annotators: int = _setting(9, _number(1, 1_000), "people who vote; each gets a pack")
    votes_per_pair: int = _setting(9, _number(1, 1_000), "people who vote on each pair; nobody votes on it twice")
    faults: str = _setting(
        "no", _word("no", "yes"), "yes: annotators also mark responses that are uncomfortable or over-personalized"
    )
    medium: Fraction = _setting(  # noqa: RUF009
        Fraction(8, 9),
        _majority,
        "share of all such people that agrees on a Medium pair at least, as estimated from the votes",
    )

    @property
    def votes(self) -> int:
        """Votes on each pair: fewer than `votes_per_pair` if there are fewer annotators."""
        return min(self.votes_per_pair, self.annotators)

    def generator(self, what: str, name: str) -> random.Random:
        """Random generator of one kind of choice about one thing, seeded on its own: earlier choices do not change it."""
        return random.Random(f"{self.seed}:{what}:{name}")

    @classmethod
    def load(cls, path: Path) -> Settings:
        """Settings of a file, with defaults for missing ones. Raises DataError for an unknown key or an invalid value."""
        if not path.is_file():
            raise DataError(f"{path}: there is no such file. Start a build: personafeedback build init DIR")
        known = {setting.name: setting.metadata["read"] for setting in fields(cls)}
        values = {}
        for name, value in settings(path).items():
            if name not in known:
                raise DataError(f"{path}: found the key {short(name)}, expected only {', '.join(known)}. Fix it.")
            try:
                values[name] = known[name](value)
            except _Expected as expected:
                raise DataError(f"{path}: found {name} = {short(value)}, expected {expected}. Fix it.") from expected
        return cls(**values)

    @classmethod
    def of_options(cls, **options: str | None) -> Settings:
        """Settings from a command's options of these names; None means default. Raises OptionError for an invalid value."""
        values = {}
        for setting in fields(cls):
            value = options.get(setting.name)
            if value is not None:
                try:
                    values[setting.name] = setting.metadata["read"](value)
                except _Expected as expected:
                    raise OptionError(f"--{setting.name} must be {expected}, got {short(value)}.") from expected
        return cls(**values)

    def as_yaml(self) -> str:
        """Text of build.yaml: every setting with its comment."""
        lines = []
        for setting in fields(self):
            value = getattr(self, setting.name)
            shown = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
            lines.append(f"{setting.name}: {shown}  # {setting.metadata['comment']}\n")
        return "".join(lines)
