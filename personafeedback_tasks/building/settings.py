"""`build.toml`: a team's decisions about its set, and nothing that a step can find out. Strict."""

from __future__ import annotations

import json
import random
import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ..common.errors import DataError, OptionError
from ..common.outputs import described
from ..common.records import cut, decoded, read, short
from ..personafeedback.manifest import LONGEST_NAME, UNKNOWN, is_line, is_the_benchmarks

FILE = "build.toml"

_SHARE = re.compile("[0-9]{1,9}/[1-9][0-9]{0,8}|[01]?[.]?[0-9]{1,15}")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a build. build.toml repeats what each decides.

    Attributes:
        name: of the set, as every table and card shows it
        license: of the texts: an SPDX id such as CC-BY-4.0
        language: of every text: a code of two or three letters, such as zh or de
        seed: of every random choice
        personas: how many personas to write from seeds.jsonl; your own come on top
        specific: questions to write for each person, from the scenarios of scenarios.csv
        general: questions to choose for each person from your pool.jsonl
        test: share of the persons whose pairs people vote on; the others are for training
        words: of an answer, about: each question has a target from 0.6 to 1.7 times as long
        annotators: people who vote; each gets a pack
        votes_per_pair: annotators per pair, each with one vote
        faults: whether annotators also mark responses that are uncomfortable or over-personalized
    """

    name: str = "our set"
    license: str = UNKNOWN
    language: str = "en"
    seed: Annotated[int, Meta(ge=0, le=10**12)] = 0
    personas: Annotated[int, Meta(ge=0, le=100_000)] = 20
    specific: Annotated[int, Meta(ge=0, le=1_000)] = 5
    general: Annotated[int, Meta(ge=0, le=1_000)] = 0
    test: Fraction = Fraction(1)
    words: Annotated[int, Meta(ge=5, le=5_000)] = 160
    annotators: Annotated[int, Meta(ge=1, le=1_000)] = 9
    votes_per_pair: Annotated[int, Meta(ge=1, le=1_000)] = 9
    faults: bool = False

    def __post_init__(self) -> None:
        for key in ("name", "license"):
            if not is_line(getattr(self, key), LONGEST_NAME):
                found = short(getattr(self, key))
                raise ValueError(f"{key} = {found}, expected one printable line of 1 to {LONGEST_NAME} characters")
        if is_the_benchmarks(self.name):
            raise ValueError(f"name = {short(self.name)}, expected a name that is not the benchmark's")
        if not re.fullmatch("[a-z]{2,3}", self.language):  # prompts and checks know zh, not zh-CN
            raise ValueError(
                f"language = {short(self.language)}, expected a code of two or three letters, such as zh or de"
            )

    @property
    def votes(self) -> int:
        """Votes on each pair: fewer than `votes_per_pair` if there are fewer annotators."""
        return min(self.votes_per_pair, self.annotators)

    def generator(self, what: str, name: str) -> random.Random:
        """Random generator of one kind of choice about one thing: no other choice changes it."""
        return random.Random(f"{self.seed}:{what}:{name}")

    @classmethod
    def load(cls, path: Path) -> Settings:
        """Settings of a file, with defaults. Raises DataError for an unknown key or an invalid value."""
        raw = read(path)
        try:
            found = tomllib.loads(raw.decode("utf-8"))
        except ValueError as error:
            raise DataError(
                f"{path}: found invalid TOML ({cut(str(error), 200)}), expected KEY = VALUE. Fix it."
            ) from error
        return decoded(path, found, cls, "Fix it.", lax=_share)

    @classmethod
    def of_options(cls, earlier: Settings | None, **options: str | None) -> Settings:
        """The settings that a build was started with, or else the options of a command. None means default.

        Raises OptionError for an option with an invalid value, or one that differs from the setting of a started build.
        """
        given = {name: value for name, value in options.items() if value is not None}
        try:
            new = decoded("options", given, cls, "Fix it.", lax=_share)
        except DataError as error:
            raise OptionError(str(error)) from error
        for name in given if earlier else ():
            if getattr(earlier, name) != getattr(new, name):
                raise OptionError(
                    f"--{name} {given[name]}: found {name} = {getattr(earlier, name)} in the {FILE} of a build that was "
                    "started before, expected the same. Leave the option out, or change the file."
                )
        return earlier or new

    def as_toml(self) -> str:
        """Text of build.toml: every setting with its comment."""
        _, meanings = described(type(self).__doc__ or "")
        lines = []
        for name, value in msgspec.structs.asdict(self).items():
            shown = json.dumps(str(value) if isinstance(value, Fraction) else value, ensure_ascii=False)
            lines.append(f"{name} = {shown}  # {meanings[name]}\n")
        return "".join(lines)


def _share(_: type, value: Any) -> Fraction:
    if not _SHARE.fullmatch(str(value)) or Fraction(str(value)) > 1:
        raise ValueError("a share such as 8/9 or 0.8, from 0 to 1")
    return Fraction(str(value))
