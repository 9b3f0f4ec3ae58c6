"""Release files -> cases: data/CATEGORY/DIFFICULTY.jsonl, with upstream's spellings (spedific, mid) or corrected ones.

Strict: whatever is broken raises DataError, nothing is skipped or repaired.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from ..common.errors import DataError, choose
from ..common.records import broken, cut, read, rows, short, short_list
from ..core import cases as core
from ..core.cases import digest_of
from ..pairwise.cases import COUNTS, QuestionCase, in_proportion
from . import manifest, memory
from .cells import CATEGORIES, CELLS, DIFFICULTIES, category_of, difficulty_of
from .persona import Persona, load_profile
from .release import Release, cell_file, files_of, locate, selected

TURNS_GROW = 3
"""Users take turns of 1, 3, 9, ... cases, so that `--limit 100` does not ask ten users: rows come in runs of one user."""
# Turns of one case would spread best, but by a user's next turn a server's prefix cache has dropped the persona. Turns
# that grow loosen the proportions of the cells: to within one case per user in the General half.

PERSONAS = "persona"
_REJECTED = ("reject", "rejected")


@dataclass(frozen=True, kw_only=True)
class PersonaQuestion(QuestionCase):
    """A question of one user of a release."""

    persona: Persona  # one object for all cases of a user
    # its other users are read only under `other_persona` and `similar_persona`
    release: Release | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, persona: Persona, **fields: Any) -> Self:
        """A question of this user, with the other fields."""
        return cls(user_id=persona.user_id, known=persona.text, language=persona.language, persona=persona, **fields)

    def another(self, setting: str) -> Persona:
        """The persona that `other_persona` or `similar_persona` shows; no part of this case's texts or digest.

        Raises DataError without one.
        """
        assert self.release is not None, "only a case of a release has other users"
        return self.release.given(setting).of(self.user_id)


@dataclass(frozen=True, kw_only=True)
class PersonaCase(PersonaQuestion):
    """One human-annotated test case; the first response is the one that the annotators chose for this user."""

    extra: Mapping[str, Any] = field(default_factory=dict)  # other fields of the row, as parsed

    @property
    def chosen(self) -> str:
        return self.responses[0]

    @property
    def rejected(self) -> str:
        return self.responses[1]

    @property
    def line(self) -> int:
        """Its line in the release's file of its cell, from 1."""
        return int(self.id.rpartition(":")[2])

    @property
    def category(self) -> str:
        return category_of(self.cell)

    @property
    def difficulty(self) -> str:
        return difficulty_of(self.cell)


@dataclass(frozen=True)
class PersonaCases(core.CaseSet[PersonaCase]):
    """The cases of one run, in the order in which a harness gets them."""

    # users take turns that grow by TURNS_GROW; cells are mixed in proportion to their sizes
    cases: tuple[PersonaCase, ...]
    release: Release
    counts: str  # `any` if nobody checked that every cell has the number of cases that it must have

    @property
    def cell_order(self) -> tuple[str, ...]:
        return CELLS

    @property
    def source(self) -> str:
        return self.release.source

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of the bytes of all cells' files, all personas and the manifest, asked or not.

        A cell counts under its own name, however its folder and file are spelled. Memories have a digest of their own.
        """
        root = self.release.root
        files = [(cell, path) for cell in CELLS for path in files_of(root, cell)]
        files += [(path.stem, path) for path in sorted((root / PERSONAS).glob("*.json"))]
        files += [(manifest.FILE, root / manifest.FILE)] if self.release.manifest else []
        return digest_of([(name, hashlib.sha256(read(path)).hexdigest()) for name, path in files])

    @property
    def demonstration(self) -> bool:
        """Whether these are the bundled sample, or duels on its questions."""
        described = self.release.manifest
        return super().demonstration or bool(described and described.duel and described.duel.demonstration)

    @property
    def named_set(self) -> core.NamedSet | None:
        """Name and counts of the manifest; its other keys are in `release.manifest`."""
        described = self.release.manifest
        return core.NamedSet(described.name, described.counts) if described else None


def load_cases(
    data: str | os.PathLike[str] | None = None,
    category: str | None = None,
    difficulty: str | None = None,
    counts: str = "checked",
) -> PersonaCases:
    """Load the cases of one cell, one category, one difficulty, or all cells.

    The release must have all of the selected cells; a set those that its manifest names, of which one must be selected.

    Args:
        counts: `checked` requires the number of cases per cell that the paper reports, or the manifest of a set;
            `any` accepts what is present, and every signature then says so.

    Raises:
        DataError: naming the file and line, what was found, what was expected and what to do.
        OptionError: an unknown category, difficulty or counts.
    """
    categories = CATEGORIES if category is None else (choose("category", category, CATEGORIES),)
    difficulties = DIFFICULTIES if difficulty is None else (choose("difficulty", difficulty, DIFFICULTIES),)
    choose("counts", counts, COUNTS)
    wanted = [cell for cell in CELLS if category_of(cell) in categories and difficulty_of(cell) in difficulties]
    return _in_cells(locate(data), wanted, counts)


def load_present(data: str | os.PathLike[str] | None = None, counts: str = "checked") -> PersonaCases:
    """Load every cell that a copy of the release, or a set, has a file for; the copy may have only one half.

    `counts` applies to each cell that is present. Raises DataError if none is.
    """
    choose("counts", counts, COUNTS)
    release = locate(data)
    present = [cell for cell in CELLS if files_of(release.root, cell)]
    return _in_cells(release, present if present and release.manifest is None else CELLS, counts)


def _in_cells(release: Release, wanted: Sequence[str], counts: str) -> PersonaCases:
    personas: dict[str, Persona] = {}
    cells = []
    for cell in selected(release, wanted):
        path = cell_file(release.root, cell)
        cases = _read(path, cell, release, personas)
        if counts == "checked":
            core.refuse_other_counts(str(path), {cell: cases}, {cell: release.counts[cell]})
        cells.append(in_turns(cases, growth=1))
    return PersonaCases(tuple(in_turns(in_proportion(cells), growth=TURNS_GROW)), release, counts)


def with_rows_of(cases: PersonaCases, folder: Path) -> PersonaCases:
    """The same release with the rows of `folder`/CELL.jsonl in place of its own, for the cells that the cases have."""
    personas: dict[str, Persona] = {}
    found: list[PersonaCase] = []
    for cell in cases.cells:
        found += _read(folder / f"{cell}.jsonl", cell, cases.release, personas)
    return replace(cases, cases=tuple(found))


def _read(path: Path, cell: str, release: Release, personas: dict[str, Persona]) -> list[PersonaCase]:
    # The cases of a file; `personas` gets those of its users that it lacks.
    cases = []
    for line, row in rows(path):
        user_id, question, responses = _texts(row, where := f"{path}, line {line}")
        if user_id not in personas:
            personas[user_id] = _persona(release.root, user_id, where)
        cases.append(
            PersonaCase.of(
                personas[user_id], id=f"{cell}:{line}", cell=cell, question=question, responses=responses, extra=row,
                release=release,
            )
        )  # fmt: skip
    return cases


def _texts(row: dict[str, Any], where: str) -> tuple[str, str, tuple[str, str]]:
    # Take the user's id, the question and both responses out of a row: what is left is `extra`.
    rejected_keys = [key for key in _REJECTED if key in row] or [_REJECTED[0]]
    if len(rejected_keys) > 1:
        raise broken(where, "both 'reject' and 'rejected'", "one of them")
    if isinstance(row.get("user_id"), int) and not isinstance(row["user_id"], bool):
        row["user_id"] = str(row["user_id"])
    fields = ("user_id", "question", "chosen", rejected_keys[0])
    for key in fields:
        if key not in row:
            raise broken(where, f"no {key!r} (keys: {short_list(row) or 'none'})", f"a string {key!r}")
        if not isinstance(row[key], str) or not row[key].strip():
            raise broken(where, f"{key} = {short(row[key])}", "a non-empty string")
    user_id, question, chosen, rejected = (row.pop(key) for key in fields)
    if chosen == rejected:
        raise broken(where, "chosen and rejected are the same text", "two different responses")
    return user_id, question, (chosen, rejected)


def _persona(root: Path, user_id: str, where: str) -> Persona:
    if user_id in (".", "..") or any(character in user_id for character in "/\\:"):
        raise broken(where, f"user_id = {short(user_id)}", "a plain file name without path separators")
    path = root / PERSONAS / f"{user_id}.json"
    if not os.path.isfile(path):  # unlike Path.is_file, False also for a name that is too long
        raise DataError(
            f"{where}: found no persona for user_id {short(user_id)}, expected the file {cut(str(path), 300)}. Add the "
            "file."
        )
    return Persona(user_id, load_profile(path), root / memory.FOLDER / f"{user_id}.jsonl")


def in_turns(cases: Iterable[PersonaCase], growth: int) -> list[PersonaCase]:
    """One case of every user, then the next `growth` cases of every user, then `growth` times as many, ..."""
    # Users are in the order of their first case, and a user's cases keep their order. In every prefix, no user has more
    # than `growth` times the cases of another who has some left, plus one.
    by_user: dict[str, list[PersonaCase]] = {}
    for case in cases:
        by_user.setdefault(case.user_id, []).append(case)
    ordered: list[PersonaCase] = []
    waiting, start, turn = list(by_user.values()), 0, 1
    while waiting:
        for own in waiting:
            ordered += own[start : start + turn]
        start, turn = start + turn, growth * turn
        waiting = [own for own in waiting if len(own) > start]
    return ordered
