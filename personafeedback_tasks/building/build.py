"""A build: the files of its folder, each read once in a command, and how they are written."""

# build.toml                  settings, see settings.py
# seeds.jsonl, pool.jsonl     given by a team: seed profiles; general questions
# prompts/*.md                prompts, to be edited
# persona/<user_id>.json      as in a release
# memory/<user_id>.jsonl      as in a release
# names.csv, scenarios.csv, examples.jsonl   sources to draw from, see texts/sources.py
# basis.jsonl                 memory and features that a question was drawn from
# people.csv, questions.csv   to be screened by people
# answers.jsonl, pairs.jsonl, packs/, votes.jsonl, dropped.csv
# below.jsonl                 pairs that make no case, with the reason
# refused.jsonl               texts that a check turned down, with the reason
# provenance.jsonl            model, prompt, seed and parents of every text
# logs/<step>/                the Inspect logs of every call
# release/                    the set

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ..common.errors import DataError, OptionError
from ..common.records import broken, rows, short
from ..common.row_files import R, RowFolder
from ..personafeedback import memory
from ..personafeedback.persona import Persona, load_profile
from . import settings
from .rows import TEST, Person, Question, kept
from .settings import Settings
from .steps import INIT, PERSONAS, made_by

KEPT = ("text", "role", "content", "date")
"""Keys of a piece of memory. Others could hold what no pattern knows: they are not released."""


class Piece(NamedTuple):
    """A line of a user's memory: its place, its keys that are in KEPT, and the text that prompts show."""

    where: str
    row: Mapping[str, str]
    text: str


def _pieces(path: Path) -> list[Piece]:
    found = []
    for number, row in rows(path):
        where = f"{path}, line {number}"
        text = memory.text_of(row, where)
        if not isinstance(row.get("date", ""), str):
            raise broken(where, f"date = {short(row['date'])}", "a string")
        found.append(Piece(where, {key: row[key] for key in KEPT if key in row}, text))
    return found


@dataclass(frozen=True)
class Build(RowFolder):
    """A build as its files are. Its tables do not change; a step gives the rows that replace them, all at once.

    Attributes:
        most: persons that its steps see at most, as in a pilot, for testing before those for training; None for all.
    """

    guard = settings.FILE

    most: int | None = None

    @classmethod
    def open(cls, root: Path) -> Build:
        """A build that was started. Raises OptionError if there is none, DataError if its settings are broken."""
        if not (root / settings.FILE).is_file():
            raise OptionError(
                f"{root}: found no {settings.FILE}, expected the folder of a build. Start one: {INIT.command(root)}"
            )
        build = cls(root)
        _ = build.settings
        return build

    @cached_property
    def settings(self) -> Settings:
        """Settings in build.toml, with at most `most` personas."""
        loaded = self.once(self.root / settings.FILE, Settings.load)
        return loaded if self.most is None else replace(loaded, personas=min(loaded.personas, self.most))

    def need(self, kind: type[R]) -> list[R]:
        """Rows of a file that must have some. Raises DataError otherwise, naming the step that makes them."""
        if rows := self.read(kind):
            return rows
        raise DataError(
            f"{self.path(kind)}: found no rows, expected those of an earlier step. Run first: "
            f"{made_by(kind).command(self.root)}"
        )

    def persona(self, user_id: str) -> Persona:
        """A persona as a prompt shows it. Raises DataError if it is missing or broken."""
        path = self.persona_path(user_id)
        if not path.is_file():
            raise DataError(
                f"{path}: there is no such file, expected the persona of {user_id!r}. Add it, or remove the person."
            )
        return self.once(path, lambda path: Persona(user_id, load_profile(path)))

    def persona_path(self, user_id: str) -> Path:
        return self.root / "persona" / f"{user_id}.json"

    def memory(self, user_id: str) -> list[Piece]:
        """What a user read or wrote, in order; empty without a file. Raises DataError for a broken line."""
        path = self.memory_path(user_id)
        return self.once(path, _pieces) if path.is_file() else []

    def memory_path(self, user_id: str) -> Path:
        return self.root / "memory" / f"{user_id}.jsonl"

    def with_memory(self) -> list[str]:
        """Every user with a memory, including those who are not in people.csv."""
        return sorted(path.stem for path in (self.root / "memory").glob("*.jsonl"))

    def people(self, split: str | None = None) -> list[Person]:
        """Persons not dropped, of one split or of both; of a pilot, only the first `most`."""
        people = kept(self.read(Person))
        if self.most is not None:
            people = sorted(people, key=lambda person: person.split != TEST)[: self.most]
        return [person for person in people if split in (None, person.split)]

    def questions(self, split: str | None = None) -> list[Question]:
        """Questions not dropped, of persons not dropped."""
        users = {person.user_id for person in self.people(split)}
        return [question for question in kept(self.read(Question)) if question.user_id in users]

    def refuse_strangers(self) -> None:
        """Raise DataError if the user of a question, dropped or not, is not in people.csv."""
        known = self.by_id(Person)
        for question in self.read(Question):
            if question.user_id not in known:
                raise DataError(
                    f"{self.path(Question)}: found the user_id {question.user_id!r} in question {question.id!r}, "
                    f"expected one of people.csv. Add persona/{question.user_id}.json and run "
                    f"`{PERSONAS.command(self.root)}`, or remove the line."
                )
