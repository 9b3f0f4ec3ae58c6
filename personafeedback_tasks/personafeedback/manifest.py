"""`set.json`: what a data folder in the release's layout is, if it is not the release. Strict.

    {"format": 1, "name": "duel of openai/gpt-4o against chosen", "counts": {"general_hard": 58}, "licence": "CC-BY-4.0",
     "labels": "The reply of openai/gpt-4o stands as chosen.", "generator": "openai/gpt-4o", "annotators": null,
     "agreement": null}

A folder with this file is a set of its own: whatever is printed about it says the set's name and never the benchmark's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..common.errors import DataError
from ..common.strict_json import cut, json_text, jsonable, loads, read, reason, refuse_marks, short, short_list
from ..engine.benchmark import passing_for
from ..engine.duels import WON, Duel, NotAsked
from .cells import CELLS, DIFFICULTIES

FILE = "set.json"
FORMAT = 1
OPTIONAL = ("noise", "duel")
"""Keys that a file may lack; the others may be null."""
UNKNOWN = "unknown"
"""The licence of texts that nobody gave one."""

LONGEST_NAME, LONGEST_TEXT = 100, 1000
"""Characters: of a name, which is part of each task's name, and of a sentence."""

CHOSEN, REJECTED = "chosen", "rejected"
"""The other side of a duel, if it is one of the benchmark's own responses."""


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How far the annotators agree.

    Attributes:
        measure: its name with its coding: `Fleiss' kappa, a random side per pair`.
        value: in [-1, 1].
        low, high: its 95 % interval; None without one.
    """

    measure: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Risk:
    """The risk that another nine annotators would decide otherwise, in [0, 1], with its 95 % interval; None without one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Fit:
    """A test of whether the votes are distributed as the risk assumes: chi-square (from 0), its degrees of freedom (from 1), p in [0, 1]."""

    chi_square: float
    degrees: int
    p: float


@dataclass(frozen=True, kw_only=True)
class LabelNoise:
    """How far the labels rest on who happened to vote.

    Attributes:
        measure: what the risk is, in words.
        by_tier: difficulty -> the mean risk of its cases.
        fit: None where there are too few pairs for a test.
    """

    measure: str
    by_tier: Mapping[str, Risk]
    fit: Fit | None = None


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a set is.

    Attributes:
        name: one printable line of at most 100 characters, not a benchmark's (`engine.benchmark.passing_for`); somebody else's text, to be escaped where it is shown.
        counts: cell -> number of its cases, from 1; the cells that the set has.
        licence: of the texts, such as an SPDX id; UNKNOWN if nobody gave one.
        labels: a sentence on how the labels arose.
        generator: the models, or the people, that wrote the texts.
        annotators: people whose votes are behind the labels; None if there were none.
        agreement: of the annotators; None if unknown.
        noise: of the labels; None if unknown.
    """

    name: str
    counts: Mapping[str, int]
    labels: str
    generator: str
    licence: str = UNKNOWN
    annotators: int | None = None
    agreement: Agreement | None = None
    noise: LabelNoise | None = None
    duel: Duel | None = None

    @classmethod
    def load(cls, root: Path) -> Manifest | None:
        """The manifest of a data folder; None if it has none.

        Raises:
            DataError: it is not as strict as this module promises; the message names the file and the key.
        """
        path = root / FILE
        if not os.path.lexists(path):  # a link to nowhere is no absence
            return None
        raw = read(path)
        refuse_marks(raw, str(path))
        try:
            document = loads(raw.decode("utf-8"))
        except ValueError as error:
            raise DataError(f"{path}: found {reason(error)}, expected one JSON object in UTF-8. {_FIX}") from error
        return _parsed(path, document)

    def content(self, root: Path) -> str:
        """What the file in a data folder would have.

        Raises:
            DataError: it is not what `load` would accept.
        """
        _parsed(root / FILE, self.as_dict())
        return json_text(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """As in the file; the keys of label noise and of a duel only where there is one."""
        document = {"format": FORMAT, **jsonable(self)}
        return {name: value for name, value in document.items() if value is not None or name not in OPTIONAL}


_FIX = f"Fix it, or get a complete copy of the set; without {FILE} the folder counts as a copy of PersonaFeedback."


def is_line(value: object, longest: int) -> bool:
    """Whether it is a text of one printable line, of 1 to `longest` characters, without spaces around it."""
    return isinstance(value, str) and value == value.strip() and value.isprintable() and 0 < len(value) <= longest


def _parsed(path: Path, document: object) -> Manifest:
    top = _ManifestObject.of(path, "", document, _fields_of(Manifest, "format"), optional=OPTIONAL)
    if type(top["format"]) is not int or top["format"] != FORMAT:
        raise top.wrong("format", str(FORMAT), "If a later version wrote the file, upgrade personafeedback-tasks.")
    name = top.line("name", LONGEST_NAME)
    if known := passing_for(name):
        raise top.wrong(
            "name", f"a name that does not pass for the benchmark's own data, {known}", "Fix it: rename the set."
        )
    return Manifest(
        name=name,
        counts=_counts(top.below("counts", CELLS, optional=CELLS)),
        labels=top.line("labels", LONGEST_TEXT),
        generator=top.line("generator", LONGEST_TEXT),
        licence=top.line("licence", LONGEST_NAME),
        annotators=None if top["annotators"] is None else top.count("annotators", " or null"),
        agreement=None
        if top["agreement"] is None
        else _agreement(top.below("agreement", _fields_of(Agreement), _ENDS)),
        noise=_noise(top.below("noise", _fields_of(LabelNoise))) if "noise" in top.fields else None,
        duel=_duel(top.below("duel", _fields_of(Duel))) if "duel" in top.fields else None,
    )


_ENDS = ("low", "high")
"""Of an interval, which may be missing."""


def _fields_of(kind: Any, *others: str) -> tuple[str, ...]:
    return (*others, *kind.__dataclass_fields__)


def _counts(given: _ManifestObject) -> dict[str, int]:
    if not given.fields:
        raise DataError(f"{given.path}: found no cell in counts, expected at least one of {', '.join(CELLS)}. {_FIX}")
    return {cell: given.count(cell) for cell in CELLS if cell in given.fields}


def _agreement(given: _ManifestObject) -> Agreement:
    value, low, high = _with_interval(given, -1)
    return Agreement(measure=given.line("measure", LONGEST_NAME), value=value, low=low, high=high)


def _noise(given: _ManifestObject) -> LabelNoise:
    tiers = given.below("by_tier", DIFFICULTIES, optional=DIFFICULTIES)
    risks = {tier: Risk(*_with_interval(tiers.below(tier, _fields_of(Risk), _ENDS), 0)) for tier in tiers.fields}
    fit = None
    if given["fit"] is not None:
        test = given.below("fit", _fields_of(Fit))
        fit = Fit(test.number("chi_square", 0, 1e12), test.count("degrees"), test.number("p", 0, 1))
    return LabelNoise(measure=given.line("measure", LONGEST_NAME), by_tier=risks, fit=fit)


def _with_interval(given: _ManifestObject, least: float) -> tuple[float, float | None, float | None]:
    """The number `value` from `least` to 1, and its interval."""
    value = given.number("value", least, 1)
    ends = [name for name in _ENDS if given.fields.get(name) is not None]
    if len(ends) == 1:
        raise given.wrong(ends[0], "both low and high, or neither")
    if not ends:
        return value, None, None
    order = ", as low <= value <= high"
    return value, given.number("low", least, value, order), given.number("high", value, 1, order)


def _duel(given: _ManifestObject) -> Duel:
    listed = given["not_asked"]
    if not isinstance(listed, list):
        raise given.wrong("not_asked", "a list of objects")
    not_asked: dict[str, NotAsked] = {}
    for number, item in enumerate(listed):
        reply = _ManifestObject.of(given.path, f"duel.not_asked[{number}]", item, _fields_of(NotAsked))
        cell, why = reply.one_of("cell", CELLS), reply.one_of("why", tuple(WON))
        case = reply.line("case", LONGEST_TEXT)
        if not re.fullmatch(rf"{cell}:[1-9][0-9]*", case):
            raise reply.wrong("case", f"{cell}: and a line's number from 1")
        if case in not_asked:
            raise reply.wrong("case", "each case once")
        not_asked[case] = NotAsked(case=case, cell=cell, user_id=reply.line("user_id", LONGEST_TEXT), why=why)
    writer, against = given.line("writer", LONGEST_TEXT), given.line("against", LONGEST_TEXT)
    models = given["models"]
    if (
        not isinstance(models, list)
        or len(models) not in (1, 2)
        or not all(is_line(name, LONGEST_TEXT) for name in models)
    ):
        raise given.wrong("models", "a list of one or two names of models")
    return Duel(writer=writer, against=against, models=tuple(models), not_asked=tuple(not_asked.values()))


@dataclass(frozen=True)
class _ManifestObject:
    """One object of the file, whose values are taken out under a check.

    Attributes:
        key: where it is: `duel`; empty for the whole.
    """

    path: Path
    key: str
    fields: Mapping[str, Any]

    @classmethod
    def of(
        cls, path: Path, key: str, value: object, known: tuple[str, ...], optional: tuple[str, ...] = ()
    ) -> _ManifestObject:
        """The object, with no other keys than those known and all but the optional ones."""
        whole = cls(path, key, value if isinstance(value, dict) else {})
        if not isinstance(value, dict):
            raise DataError(f"{path}: found {whole._named()}{short(value)}, expected an object. {_FIX}")
        for name in value:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                meant = f" Did you mean {near[0]!r}?" if near else ""
                raise DataError(
                    f"{path}: found the key {short(name)}{f' in {key}' if key else ''}, expected only {', '.join(known)}."
                    f"{meant} {_FIX}"
                )
        for name in known:
            if name not in value and name not in optional:
                raise DataError(
                    f"{path}: found no {whole._path(name)} (keys: {short_list(value) or 'none'}), expected one. {_FIX}"
                )
        return whole

    def below(self, name: str, known: tuple[str, ...], optional: tuple[str, ...] = ()) -> _ManifestObject:
        """The object under a key, see `of`."""
        return self.of(self.path, self._path(name), self[name], known, optional)

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def line(self, name: str, longest: int) -> str:
        """A text of one printable line: it is shown in terminals, Markdown and HTML, and in names of tasks."""
        value = self[name]
        if is_line(value, longest):
            return str(value)
        raise self.wrong(name, f"one line of 1 to {longest} printable characters, without spaces around it")

    def one_of(self, name: str, known: tuple[str, ...]) -> str:
        if isinstance(self[name], str) and self[name] in known:
            return str(self[name])
        raise self.wrong(name, f"one of {', '.join(known)}")

    def count(self, name: str, otherwise: str = "") -> int:
        """A whole number from 1."""
        if type(self[name]) is int and self[name] >= 1:
            return int(self[name])
        raise self.wrong(name, f"a whole number from 1{otherwise}")

    def number(self, name: str, least: float, most: float, why: str = "") -> float:
        if type(self[name]) in (int, float) and least <= self[name] <= most:
            return float(self[name])
        raise self.wrong(name, f"a number from {least:g} to {most:g}{why}")

    def wrong(self, name: str, expected: str, remedy: str = _FIX) -> DataError:
        return DataError(f"{self.path}: found {self._path(name)} = {short(self[name])}, expected {expected}. {remedy}")

    def _path(self, name: str) -> str:
        return f"{self.key}.{cut(name)}" if self.key else cut(name)

    def _named(self) -> str:
        return f"{self.key} = " if self.key else ""
