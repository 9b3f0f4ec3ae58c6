"""The folder of a build: which file holds what, and how it is read and written.

build.yaml                  settings, see settings.py
seeds.jsonl, pool.jsonl     what a team gives: seed profiles; general questions
prompts/*.md                what models are asked, to be edited
persona/<user_id>.json      as in a release
memory/<user_id>.jsonl      as in a release
names.csv, scenarios.csv, examples.jsonl, corpus.jsonl   what is drawn from, see texts/seeds.py
basis.jsonl                 what a question was drawn from besides its scenario
people.csv, questions.csv   who and what, to be screened by people
answers.jsonl, pairs.jsonl, packs/, votes.jsonl, dropped.csv, tiers.jsonl, below.jsonl
refused.jsonl               texts that a check turned down, with the reason
provenance.jsonl            model, prompt, seed and parents of every text
logs/<step>/                the Inspect logs of every call
release/                    the set
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..common import tables
from ..common.errors import DataError, OptionError
from ..common.files import Content, locked, write_all
from ..common.records import json_lines
from ..common.records import rows as json_rows
from ..personafeedback.persona import Persona, load_profile
from . import settings
from .rows import TEST, BuildRow, Person, Question, R, columns, kept, parse, required
from .settings import Settings
from .steps import Step, command, made_by


@dataclass(frozen=True)
class Folder:
    """A build's folder.

    Attributes:
        most: persons, at most, that its steps see: those of a pilot, for testing before those for training; None for all.
    """

    root: Path
    most: int | None = None

    @classmethod
    def of_build(cls, root: Path) -> Folder:
        """The folder of a build that was started. Raises OptionError: there is no build. Raises DataError: its settings are broken."""
        if not (root / settings.FILE).is_file():
            raise OptionError(
                f"{root}: found no {settings.FILE}, expected the folder of a build. Start one: {command('init', root)}"
            )
        folder = cls(root)
        _ = folder.settings
        return folder

    @cached_property
    def settings(self) -> Settings:
        """Raises DataError, see `Settings.load`."""
        loaded = Settings.load(self.root / settings.FILE)
        return loaded if self.most is None else replace(loaded, personas=min(loaded.personas, self.most))

    def locked(self) -> AbstractContextManager[None]:
        """Keep other commands out of the build, see `files.locked`."""
        return locked(self.root / settings.FILE)

    @contextmanager
    def step(self, step: Step) -> Iterator[None]:
        """Keep other commands out of the build while a step runs. Raises DataError if what it reads is not there, see `need`."""
        with self.locked():
            for kind in step.reads:
                self.need(kind)
            yield

    def path(self, kind: type[BuildRow]) -> Path:
        return self.root / kind.file

    def has(self, kind: type[BuildRow]) -> bool:
        return os.path.lexists(self.path(kind))

    def read(self, kind: type[R]) -> list[R]:
        """The rows of a file, in its order; none if there is no such file, or it is empty.

        Raises:
            DataError: a row is broken, or two have one id.
        """
        path = self.path(kind)
        if not os.path.lexists(path) or (path.is_file() and not path.stat().st_size and path.suffix != ".csv"):
            return []
        lines: Iterable[tuple[str, Mapping[str, Any]]]
        if path.suffix == ".csv":
            lines = tables.rows(path, columns(kind), required(kind))
        else:
            lines = ((f"{path}, line {number}", row) for number, row in json_rows(path, any_text=True))
        rows, seen = [], dict[tuple[Any, ...], str]()
        for where, line in lines:
            row = parse(kind, line, where)
            value = tuple(getattr(row, name) for name in kind.key)
            if value and value in seen:
                raise DataError(
                    f"{where}: found the {' and '.join(kind.key)} {' and '.join(map(repr, value))} of {seen[value]} again, expected "
                    "each once. Remove one."
                )
            seen[value] = where
            rows.append(row)
        return rows

    def by_id(self, kind: type[R]) -> dict[str, R]:
        """The rows of a file with one key, by it. Raises DataError, see `read`."""
        (key,) = kind.key
        return {getattr(row, key): row for row in self.read(kind)}

    def need(self, kind: type[R]) -> list[R]:
        """As `read`, of a file that must have rows. Raises DataError: it has none; the message names the step that makes it."""
        if rows := self.read(kind):
            return rows
        raise DataError(
            f"{self.path(kind)}: found no rows, expected those of an earlier step. Run first: "
            f"{command(made_by(kind).name, self.root)}"
        )

    def write(self, kind: type[R], rows: Iterable[R]) -> None:
        """Replace one file as a whole, see `write_together`."""
        self.write_together({kind: rows})

    def write_together(
        self, rows: Mapping[type[BuildRow], Iterable[BuildRow]], others: Mapping[Path, Content] = {}
    ) -> None:
        """Replace files as a whole, in this order and after the others, once all of them are on the disk.

        Args:
            rows: type of row -> all rows of its file.
            others: path -> content of files that are no rows.

        Raises:
            FileError: one cannot be written. All are unchanged.
        """
        write_all({**others, **{self.path(kind): self._content(kind, of_kind) for kind, of_kind in rows.items()}})

    def _content(self, kind: type[BuildRow], rows: Iterable[BuildRow]) -> Content:
        dicts = [asdict(row) for row in rows]
        if not kind.file.endswith(".csv"):
            return json_lines(dicts)
        names, (key,) = columns(kind), kind.key
        notes = self._notes(self.path(kind), names, key)
        others = dict.fromkeys(column for line in notes.values() for column in line)
        return tables.text([*names, *others], [{**notes.get(row[key], {}), **row} for row in dicts])

    def _notes(self, path: Path, names: list[str], key: str) -> dict[str, dict[str, str]]:
        """Key of a line -> what a team wrote into columns of its own, which a step that adds lines must not lose."""
        if not path.is_file():
            return {}
        return {
            row.get(key, ""): {name: value for name, value in row.items() if name and name not in names}
            for _, row in tables.rows(path, None, [])
        }

    def persona(self, user_id: str) -> Persona:
        """A persona as a prompt shows it. Raises DataError: there is none, or it is broken."""
        path = self.persona_path(user_id)
        if not path.is_file():
            raise DataError(
                f"{path}: there is no such file, expected the persona of {user_id!r}. Add it, or remove the person."
            )
        return Persona(user_id, load_profile(path), self.memory_path(user_id))

    def persona_path(self, user_id: str) -> Path:
        return self.root / "persona" / f"{user_id}.json"

    def memory_path(self, user_id: str) -> Path:
        return self.root / "memory" / f"{user_id}.jsonl"

    def has_memory(self, user_id: str) -> bool:
        return self.memory_path(user_id).is_file()

    def people(self, split: str | None = None) -> list[Person]:
        """Those that were kept, of one split or of both."""
        people = kept(self.need(Person))
        if self.most is not None:
            people = sorted(people, key=lambda person: person.split != TEST)[: self.most]
        return [person for person in people if split in (None, person.split)]

    def questions(self, split: str | None = None) -> list[Question]:
        """Those that were kept, of people that were kept."""
        users = {person.user_id for person in self.people(split)}
        return [question for question in kept(self.need(Question)) if question.user_id in users]
