"""The folder of a build: which file holds what, and how it is read and written.

build.yaml                  settings, see settings.py
seeds.jsonl, pool.jsonl     what a team gives: seed profiles; general questions
prompts/*.md                what models are asked, to be edited
persona/<user_id>.json      as in a release
memory/<user_id>.jsonl      as in a release
people.csv, questions.csv   who and what, to be screened by people
answers.jsonl, pairs.jsonl, packs/, votes.jsonl, dropped.csv, tiers.jsonl, below.jsonl
refused.jsonl               texts that a check turned down, with the reason
provenance.jsonl            model, prompt, seed and parents of every text
logs/<step>/                the Inspect logs of every call
release/                    the set
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from ..common import tables
from ..common.errors import DataError
from ..common.files import Content, write_all
from ..common.strict_json import rows as json_rows
from ..personafeedback import persona_file
from ..personafeedback.persona import Persona
from . import settings
from .rows import Answer, Dropped, Origin, Pair, Person, Question, Refused, Shown, Tiered, Vote, as_dict, parse
from .settings import Settings

R = TypeVar("R", Person, Question, Answer, Pair, Shown, Vote, Dropped, Tiered, Refused, Origin)

FILES: dict[type, str] = {
    Person: "people.csv",
    Question: "questions.csv",
    Answer: "answers.jsonl",
    Pair: "pairs.jsonl",
    Shown: "packs/shown.jsonl",
    Vote: "votes.jsonl",
    Dropped: "dropped.csv",
    Tiered: "tiers.jsonl",
    Refused: "refused.jsonl",
    Origin: "provenance.jsonl",
}
"""Type of row -> its file."""

BELOW = "below.jsonl"
"""The pairs that reach no tier: rows of Tiered."""

_KEYS: dict[type, tuple[str, ...]] = {
    Person: ("user_id",), Pair: ("id",), Question: ("id",), Answer: ("id",), Shown: ("item",), Vote: ("annotator", "pair_id", "texts"),
    Dropped: ("annotator",), Tiered: ("pair_id",), Origin: ("id",),
}  # fmt: skip
"""Type of row -> the fields that no two rows share."""


def command(step: str, root: Path) -> str:
    """A step's command, as a shell takes it."""
    return f"personafeedback build {step} {shlex.quote(str(root))}"


@dataclass(frozen=True)
class Folder:
    """A build's folder."""

    root: Path

    @cached_property
    def settings(self) -> Settings:
        """Raises DataError, see `Settings.load`."""
        return Settings.load(self.root / settings.FILE)

    def path(self, kind: type) -> Path:
        return self.root / FILES[kind]

    def has(self, kind: type) -> bool:
        return os.path.lexists(self.path(kind))

    def read(self, kind: type[R], name: str = "") -> list[R]:
        """The rows of a file, in its order; none if there is no such file, or it is empty.

        Args:
            name: of another file with such rows.

        Raises:
            DataError: a row is broken, or two have one id.
        """
        path = self.root / (name or FILES[kind])
        if not os.path.lexists(path):
            return []
        if path.suffix == ".csv":
            names = [one.name for one in fields(kind)]
            found = [(where, parse(kind, row, where)) for where, row in tables.rows(path, names, _needed(kind))]
        elif path.is_file() and not path.stat().st_size:
            return []
        else:
            lines = [(f"{path}, line {number}", row) for number, row in json_rows(path, any_text=True)]
            found = [(where, parse(kind, row, where)) for where, row in lines]
        if key := _KEYS.get(kind):
            seen: dict[tuple[str, ...], str] = {}
            for where, row in found:
                value = tuple(getattr(row, name) for name in key)
                if value in seen:
                    raise DataError(
                        f"{where}: found the {' and '.join(key)} {' and '.join(map(repr, value))} of {seen[value]} again, expected each "
                        "once. Remove one."
                    )
                seen[value] = where
        return [row for _, row in found]

    def need(self, kind: type[R], step: str) -> list[R]:
        """As `read`, of a file that must have rows.

        Raises:
            DataError: it has none; the message names the step that makes it.
        """
        if found := self.read(kind):
            return found
        raise DataError(
            f"{self.path(kind)}: found no rows, expected what the step before leaves. Run first: "
            f"{command(step, self.root)}"
        )

    def write(self, kind: type[R], found: Iterable[R], name: str = "") -> None:
        """Replace a file as a whole.

        Raises:
            FileError: it cannot be written. It is unchanged.
        """
        write_all(dict([self._as_file(kind, found, name)]))

    def write_together(self, rows: Mapping[type, Iterable[Any]], others: Mapping[Path, str] = {}) -> None:
        """Replace several files, in this order and after the others, once all of them are on the disk.

        Args:
            rows: type of row -> all rows of its file.
            others: path -> content of files that are no rows.

        Raises:
            FileError: one cannot be written. All are unchanged.
        """
        write_all({**others, **dict(self._as_file(kind, found) for kind, found in rows.items())})

    def _as_file(self, kind: type, found: Iterable[Any], name: str = "") -> tuple[Path, Content]:
        path = self.root / (name or FILES[kind])
        dicts = [as_dict(row) for row in found]
        if path.suffix == ".csv":
            names, (key,) = [one.name for one in fields(kind)], _KEYS[kind]
            notes = self._notes(path, names, key)
            columns = dict.fromkeys(column for line in notes.values() for column in line)
            return path, tables.text([*names, *columns], [{**notes.get(row[key], {}), **row} for row in dicts])
        return path, [json.dumps(row, ensure_ascii=False) + "\n" for row in dicts]

    def _notes(self, path: Path, names: list[str], key: str) -> dict[str, dict[str, str]]:
        """Key of a line -> what a team wrote into columns of its own, which a step that adds lines must not lose."""
        if not path.is_file():
            return {}
        return {
            row.get(key, ""): {name: value for name, value in row.items() if name and name not in names}
            for _, row in tables.rows(path, None, [])
        }

    def persona(self, user_id: str) -> Persona:
        """A persona as a prompt shows it.

        Raises:
            DataError: there is none, or it is broken.
        """
        path = self.root / "persona" / f"{user_id}.json"
        if not path.is_file():
            raise DataError(
                f"{path}: there is no such file, expected the persona of {user_id!r}. Add it, or remove the person."
            )
        return Persona(user_id, persona_file.load(path), self.root / "memory" / f"{user_id}.jsonl")

    def people(self, split: str | None = None) -> list[Person]:
        """Those that were kept, of one split or of both."""
        found = self.need(Person, "personas")
        return [one for one in found if one.keep != "no" and split in (None, one.split)]

    def questions(self, split: str | None = None) -> list[Question]:
        """Those that were kept, of people that were kept."""
        kept = {one.user_id for one in self.people(split)}
        return [one for one in self.need(Question, "questions") if one.keep != "no" and one.user_id in kept]


def _needed(kind: type) -> list[str]:
    return [one.name for one in fields(kind) if one.default is MISSING]
