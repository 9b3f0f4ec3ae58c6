"""Release files -> cases. Strict: whatever is broken raises DataError, nothing is skipped or repaired.

Layout of a release (field names and spellings as upstream has them, plus the corrected spellings):

    data/{general,spedific|specific}/{easy,medium|mid,hard}.jsonl   user_id, question, chosen, reject|rejected
    persona/<user_id>.json
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jsonlines

from .errors import DataError, choose
from .persona import Persona
from .release import PAPER_COUNTS, Release, locate

CATEGORIES = ("specific", "general")
DIFFICULTIES = ("easy", "medium", "hard")
COUNTS = ("table2", "any")

_FOLDERS = {"specific": ("spedific", "specific"), "general": ("general",)}
_FILES = {"easy": ("easy",), "medium": ("medium", "mid"), "hard": ("hard",)}
_REJECTED = ("reject", "rejected")


@dataclass(frozen=True)
class Case:
    """One human-annotated test case.

    Attributes:
        id: `general_hard:17` is line 17 of that release file.
        category: `specific` or `general`.
        difficulty: `easy`, `medium` or `hard`.
        persona: the user who asked; one object for all cases of a user.
        question: what the user asked.
        chosen: the response that the annotators found to suit this user better.
        rejected: the other response.
        extra: fields of the row that this version does not know, as parsed.
    """

    id: str
    category: str
    difficulty: str
    persona: Persona
    question: str
    chosen: str
    rejected: str
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cell(self) -> str:
        return f"{self.category}_{self.difficulty}"

    @property
    def user_id(self) -> str:
        return self.persona.user_id

    @property
    def language(self) -> str:
        """`en` or `zh`: a property of the user, see Persona.language."""
        return self.persona.language

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of the id and of every text. It stands in each harness's log beside the answers, so
        that no answer is ever scored against other data than it was given for.
        """
        return _digest((self.id, self.user_id, self.persona.text, self.question, self.chosen, self.rejected))


@dataclass(frozen=True)
class CaseSet(Sequence[Case]):
    """The cases of one run, in the order in which they are offered to a harness.

    Attributes:
        cases: users take turns, cells are interleaved in proportion to their sizes.
        release: where they came from.
        counts: `table2` if every cell has the paper's number of cases, `any` if that was not asked for.
    """

    cases: tuple[Case, ...]
    release: Release
    counts: str

    def __len__(self) -> int:
        return len(self.cases)

    def __getitem__(self, index: Any) -> Any:
        return self.cases[index]

    @cached_property
    def cells(self) -> dict[str, tuple[Case, ...]]:
        """Cell -> its cases, cells in the order of the paper."""
        cells: dict[str, list[Case]] = {"_".join(cell): [] for cell in PAPER_COUNTS}
        for case in self.cases:
            cells[case.cell].append(case)
        return {cell: tuple(cases) for cell, cases in cells.items() if cases}

    @cached_property
    def digests(self) -> dict[str, str]:
        """Cell -> SHA-256 (12 hex digits) of its cases."""
        return {cell: _digest(sorted(case.digest for case in cases)) for cell, cases in self.cells.items()}

    @cached_property
    def digest(self) -> str:
        """SHA-256 (12 hex digits) of every text of every case: the same data, the same digest, from any source."""
        return _digest(list(self.digests.items()))

    @property
    def revision(self) -> str:
        """What a signature prints about the data."""
        unchecked = ", counts=any" if self.counts == "any" else ""
        return f"{self.release.source} (sha256 {self.digest}{unchecked})"

    @property
    def languages(self) -> Counter[str]:
        return Counter(case.language for case in self.cases)


def load_cases(
    data: str | os.PathLike[str] | None = None,
    category: str | None = None,
    difficulty: str | None = None,
    counts: str = "table2",
) -> CaseSet:
    """Load the cases of one cell, one category, one difficulty, or all six cells.

    Args:
        data: see `release.locate`.
        category: `specific`, `general`, or None for both.
        difficulty: `easy`, `medium`, `hard`, or None for all three.
        counts: `table2` (default) demands the number of cases per cell that the paper reports;
            `any` accepts what is there, and every signature then says so.

    Raises:
        DataError: naming the file and line, what was found, what was expected and what to do.
        OptionError: an unknown category, difficulty or counts.
    """
    categories = CATEGORIES if category is None else (choose("category", category, CATEGORIES),)
    difficulties = DIFFICULTIES if difficulty is None else (choose("difficulty", difficulty, DIFFICULTIES),)
    choose("counts", counts, COUNTS)
    release = locate(data)
    personas: dict[str, Persona] = {}
    cells = []
    for cell in PAPER_COUNTS:
        if cell[0] in categories and cell[1] in difficulties:
            path = _cell_file(release.root, *cell)
            cases = [_case(row, path, line, *cell, release.root, personas) for line, row in _rows(path)]
            if counts == "table2" and len(cases) != release.counts[cell]:
                raise DataError(
                    f"{path}: found {len(cases)} cases, expected {release.counts[cell]} for {'_'.join(cell)} "
                    "(arXiv 2506.12915, Table 2). Get a complete copy, or pass counts=any to run on what is there; "
                    "the results then say so."
                )
            cells.append(_users_in_turn(cases))
    return CaseSet(tuple(_in_proportion(cells)), release, counts)


def _cell_file(root: Path, category: str, difficulty: str) -> Path:
    candidates = [
        root / "data" / folder / f"{name}.jsonl" for folder in _FOLDERS[category] for name in _FILES[difficulty]
    ]
    found = [path for path in candidates if path.is_file()]
    if len(found) == 1:
        return found[0]
    names = " or ".join(str(path) for path in candidates)
    if found:
        raise DataError(f"{names}: found {len(found)} of them, expected one. Remove the file that does not belong.")
    raise DataError(
        f"{names}: no such file, so there are no {category}_{difficulty} cases. "
        "Get a complete copy of the release, or run only tasks whose cells are all there."
    )


def _rows(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, row). Lines end at LF alone: U+2028 inside a text is no line break."""
    raw = _read(path)
    if not raw.strip():
        raise DataError(f"{path}: the file is empty, expected one JSON object a line. Get a complete copy.")
    lines = raw.removesuffix(b"\n").split(b"\n")
    with jsonlines.Reader(lines, loads=_loads) as reader:
        for number, line in enumerate(lines, start=1):
            where = f"{path}, line {number}"
            _refuse_marks(line, where)  # the reader would drop them
            try:
                row = reader.read(type=dict)
            except jsonlines.InvalidLineError as error:
                raise _broken(where, _reason(error.__cause__ or "not a JSON object"), "one JSON object") from error
            except RecursionError as error:
                raise _broken(where, _reason(error), "one JSON object") from error
            yield number, row


def _case(
    row: dict[str, Any],
    path: Path,
    line: int,
    category: str,
    difficulty: str,
    root: Path,
    personas: dict[str, Persona],
) -> Case:
    where = f"{path}, line {line}"
    rejected_keys = [key for key in _REJECTED if key in row] or [_REJECTED[0]]
    if len(rejected_keys) > 1:
        raise _broken(where, "both 'reject' and 'rejected'", "one of them")
    if isinstance(row.get("user_id"), int) and not isinstance(row["user_id"], bool):
        row["user_id"] = str(row["user_id"])
    fields = ("user_id", "question", "chosen", rejected_keys[0])
    for key in fields:
        if key not in row:
            raise _broken(where, f"no {key!r} (keys: {_short_list(row) or 'none'})", f"a string {key!r}")
        if not isinstance(row[key], str) or not row[key].strip():
            raise _broken(where, f"{key} = {_short(row[key])}", "a non-empty string")
    user_id, question, chosen, rejected = (row.pop(key) for key in fields)
    if chosen == rejected:
        raise _broken(where, "chosen and rejected are the same text", "two different responses")
    if user_id not in personas:
        personas[user_id] = _persona(root, user_id, where)
    id_ = f"{category}_{difficulty}:{line}"
    return Case(id_, category, difficulty, personas[user_id], question, chosen, rejected, row)


def _persona(root: Path, user_id: str, where: str) -> Persona:
    if user_id in (".", "..") or any(character in user_id for character in "/\\:"):
        raise _broken(where, f"user_id = {_short(user_id)}", "a plain file name without path separators")
    path = root / "persona" / f"{user_id}.json"
    try:
        found = path.is_file()
    except OSError:  # the name is too long for a file
        found = False
    if not found:
        raise DataError(
            f"{where}: found no persona for user_id {_short(user_id)}, expected the file {_cut(str(path), 300)}. Add the file."
        )
    raw = _read(path)
    _refuse_marks(raw, f"{path}, line 1")
    try:
        profile = _loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _broken(str(path), _reason(error), "one JSON object") from error
    if not isinstance(profile, dict) or not profile:
        raise _broken(str(path), _short(profile), "a non-empty JSON object")
    return Persona(user_id, profile)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: could not be read ({error}). Check the path and its permissions.") from error


def _refuse_marks(raw: bytes, where: str) -> None:
    for mark, name in ((b"\xef\xbb\xbf", "a byte order mark"), (b"\x1e", "a record separator")):
        if raw.startswith(mark):
            raise _broken(where, name, "UTF-8 without one")


def _loads(text: str | bytes) -> Any:
    """`json.loads` that refuses what it would otherwise repair: NaN, repeated keys, NUL, lone surrogates."""
    value = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite)
    if "\\u" in str(text):  # only an escape brings either of them past the UTF-8 decoder and the JSON parser
        for string in _strings(value):
            if "\0" in string:
                raise ValueError("a NUL character in a string")
            if any("\ud800" <= character <= "\udfff" for character in string):
                raise ValueError("half of a surrogate pair in a string")
    return value


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _finite(number: str) -> float:
    if math.isinf(float(number)):
        raise ValueError(f"{_cut(number)} is too large a number")
    return float(number)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {_short(twice)} twice in one object")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _reason(error: object) -> object:
    """The parser's words without its own line number, which would contradict the file's."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} (column {error.colno})"
    return "too deep a nesting" if isinstance(error, RecursionError) else error


def _broken(where: str, found: object, expected: str) -> DataError:
    return DataError(f"{where}: found {found}, expected {expected}. Get an intact copy, or mend this record.")


def _digest(parts: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def _short(value: object) -> str:
    return _cut(ascii(value))


def _short_list(values: Iterable[object]) -> str:
    return _cut(", ".join(map(_short, values)), 200)


def _cut(text: str, length: int = 60) -> str:
    """A broken file can hold a megabyte where a word should be; a sentence shows its beginning."""
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _users_in_turn(cases: list[Case]) -> list[Case]:
    """First case of every user, then second of every user, ...; users and their cases in the order of the file.

    The release's rows come in runs of one user, so without this `--limit 100` would test ten people.
    """
    turn: Counter[str] = Counter()
    rounds: dict[int, list[Case]] = {}
    for case in cases:
        rounds.setdefault(turn[case.user_id], []).append(case)
        turn[case.user_id] += 1
    return [case for index in sorted(rounds) for case in rounds[index]]


def _in_proportion(cells: list[list[Case]]) -> list[Case]:
    """Interleave cells in proportion to their sizes: every prefix of the release's cells is right to within one case."""
    places = [
        ((position + 0.5) / len(cell), rank, case)
        for rank, cell in enumerate(cells)
        for position, case in enumerate(cell)
    ]
    return [case for _, _, case in sorted(places, key=lambda place: place[:2])]


def present_cells(data: str | os.PathLike[str] | None = None) -> tuple[tuple[str, str], ...]:
    """The cells (category, difficulty) that a copy of the release has a file for, in the order of the paper.

    Args:
        data: see `release.locate`.
    """
    root = locate(data).root
    return tuple(
        (category, difficulty)
        for category, difficulty in PAPER_COUNTS
        if any(
            (root / "data" / folder / f"{name}.jsonl").is_file()
            for folder in _FOLDERS[category]
            for name in _FILES[difficulty]
        )
    )


def load_present(
    data: str | os.PathLike[str] | None = None, difficulty: str | None = None, counts: str = "table2"
) -> CaseSet:
    """Load every cell that a copy of the release has a file for; the copy may hold one half only.

    Args:
        data, difficulty, counts: see `load_cases`. `counts` holds for each cell that is there.

    Raises:
        DataError, OptionError: as `load_cases`, and where no cell is there.
    """
    asked = [cell for cell in PAPER_COUNTS if difficulty in (None, cell[1])]
    there = [cell for cell in present_cells(data) if cell in asked]
    if there in ([], asked):
        return load_cases(data, None, difficulty, counts)
    parts = [load_cases(data, *cell, counts=counts) for cell in there]
    return CaseSet(tuple(case for part in parts for case in part), parts[0].release, counts)
